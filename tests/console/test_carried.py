"""The penalties that pairs carry into a match that is laid out: what was published of them."""

from pathlib import Path

import msgspec
import pytest
from httpx import AsyncClient

from controller.console.console import RefereeConsole
from controller.console.store.archive import Archive, StoredEvent
from controller.console.store.database import open_engine
from controller.console.store.match_records import EarlierRulings
from controller.console.view.penalty_counters import MAX_RECORDS, earlier_penalties
from controller.match import match_events
from controller.match.transfer_document import shift_event
from controller.messages import PublicEvent, Role
from controller.rules.penalties.penalty_record import PenaltyEntry
from tests.console.carried_penalties import EAST_WEST, MINE, PAIRS, a_match, drawn, keep
from tests.console.draw_desk import Lines, laid_out, sent
from tests.console.draw_desk import at as at
from tests.console.draw_desk import referee as referee
from tests.console.draw_files import FIRST, SECOND, a_file
from tests.console.match_entries import brought, entries
from tests.console.web import refused

pytestmark = pytest.mark.virtual


def at_time(told: list[PublicEvent], time: str) -> list[PublicEvent]:
    return [msgspec.structs.replace(event, time=time) for event in told]


def said(record: tuple[PenaltyEntry, ...]) -> list[tuple[str, str, str]]:
    return [(entry.match, entry.pair, entry.penalty) for entry in record]


def test_what_was_ruled_goes_along_and_what_was_overturned_or_left_open_does_not() -> None:
    table = a_match().ruled("EW", "violation").ruled("EW", "warning").ruled("NS", "violation")
    table.does(match_events.RulingRejected, id="R3", by="Chen", role=Role.CHIEF)
    found = earlier_penalties([entries(table)], PAIRS)
    assert said(found) == [
        (MINE.match_id, EAST_WEST, "violation"),
        (MINE.match_id, EAST_WEST, "warning"),
    ]
    assert earlier_penalties([entries(table)], {"another pair"}) == ()


def test_a_ruling_of_a_match_that_changed_its_table_counts_once() -> None:
    table = a_match().ruled("EW", "violation")
    here = entries(table)
    table.happened[:] = [shift_event(event, 60_000) for event in table.happened]
    there = at_time(entries(table), "2027-01-01T02:00:00.000+00:00")
    assert len(earlier_penalties([here, there], PAIRS)) == 1
    table.does(match_events.RulingRejected, id="R1", by="Chen", role=Role.CHIEF)
    there = at_time(entries(table), "2027-01-01T02:00:00.000+00:00")
    assert earlier_penalties([there, here], PAIRS) == ()


def test_what_a_match_brought_along_goes_on_with_its_pair_and_counts_once() -> None:
    first, second = a_match().ruled("EW", "violation"), a_match(match_id="later", match_no=2)
    record = earlier_penalties([entries(first)], PAIRS)
    later = at_time(entries(second, record), "2027-01-01T02:00:00.000+00:00")
    assert earlier_penalties([later], PAIRS) == record  # of the first nothing was heard here
    assert earlier_penalties([entries(first), later], PAIRS) == record
    first.does(match_events.RulingRejected, id="R1", by="Chen", role=Role.CHIEF)
    assert earlier_penalties([entries(first), later], PAIRS) == ()  # overturned since


def test_the_newest_go_along_where_there_are_more_than_an_order_has_room_for() -> None:
    table = a_match()
    record = tuple(brought(table, deal=number) for number in range(MAX_RECORDS + 5))
    found = earlier_penalties([entries(table, record)], PAIRS)
    assert [entry.deal for entry in found] == list(range(5, MAX_RECORDS + 5))


def test_the_archive_has_the_matches_of_a_pair_in_an_event_alone(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/console.db")
    archive = Archive(engine)
    mine, other_event = a_match().ruled("EW", "violation"), a_match(event="Another")
    others = {
        side: msgspec.structs.replace(pair, id=f"{pair.id}-x") for side, pair in MINE.pairs.items()
    }
    for table, match in (("T01", mine), ("T01", other_event), ("T02", a_match(pairs=others))):
        keep(archive, table, entries(match))
    (found,) = EarlierRulings(engine).matches_of_pairs(MINE.event, PAIRS)
    assert [event.kind for event in found] == ["meeting", "match", "match"]
    assert earlier_penalties([found], PAIRS) == earlier_penalties([entries(mine)], PAIRS)


def test_a_table_that_begins_another_journal_in_mid_match_leaves_its_rulings_whole(
    tmp_path: Path,
) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/console.db")
    archive, mine = Archive(engine), entries(a_match().ruled("EW", "violation"))
    keep(archive, "T01", mine)
    (before,) = EarlierRulings(engine).matches_of_pairs(MINE.event, PAIRS)
    other = msgspec.structs.replace(mine[0], head="f" * 64)
    archive.keep([StoredEvent(other, msgspec.json.encode(other), journal=2)])
    found = EarlierRulings(engine).matches_of_pairs(MINE.event, PAIRS)
    assert found[0] == before
    assert [[event.head for event in match] for match in found[1:]] == [[other.head]]
    engine.dispose()


async def test_a_draw_shows_and_sends_what_its_pairs_bring_along(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    console, lines = at
    keep(console.archive, "T09", drawn())
    shown = (await sent(referee)).json()
    assert [row["brought"] for row in shown["matches"]] == [{"NS": 0, "EW": 1}, {"NS": 0, "EW": 0}]
    told = await laid_out(referee)
    assert all(one["reply"]["ok"] for one in told.values())
    first, second = (order.args["record"] for _, order in lines.laid)
    assert [(entry["pair"], entry["penalty"]) for entry in first] == [("102", "violation")]
    assert second == []
    await laid_out(referee)
    assert len(lines.laid) == 2


async def test_what_was_ruled_since_the_draw_was_shown_is_looked_at_first(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    console, lines = at
    body = a_file(FIRST, SECOND)
    shown = (await sent(referee, body)).json()
    keep(console.archive, "T09", drawn())
    code, why = refused(await sent(referee, body, digest=shown["digest"]))
    assert code == 409
    assert "penalties" in why
    assert lines.laid == []


async def test_a_draw_that_is_sent_again_after_a_ruling_still_acts_once(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    console, lines = at
    await laid_out(referee)
    keep(console.archive, "T09", drawn())
    told = await laid_out(referee)
    assert all(one["reply"]["ok"] for one in told.values())
    assert len(lines.laid) == 2

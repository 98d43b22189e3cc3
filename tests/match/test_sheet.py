"""The score sheet: corrections, versions, signatures, and what it proves alone."""

from typing import Any

import msgspec
import pytest

from controller.match import match_events
from controller.match.phase import MatchPhase
from controller.match.sheet_rows import CorrectionRow, DealRow, EndRow, Sheet, replay_sheet
from controller.messages import Role
from controller.rules.deal_result import parse_finish

from .table import GUANDAN, INTL, B, Table, from_level, timed

# -- corrections --------------------------------------------------------------


def test_a_result_seen_wrong_before_the_next_release_is_plainly_corrected() -> None:
    table = Table().started().played("NS").dealt().corrected(1, "WNE")
    assert (table.levels, table.match.level, table.match.owner) == ((2, 4), 4, "EW")
    assert table.match.follows == parse_finish("WNE")
    assert (table.phase, table.state.deal) == (MatchPhase.HELD, 2)
    assert table.match.duties is not None
    assert table.match.duties.cutter == "W"
    assert table.counted().match.exchange is not None
    assert table.match.exchange is not None
    assert table.match.exchange.payers == ("S",)


def test_a_correction_keeps_the_level_played_a_fact() -> None:
    table = Table().started().played("NS", "NWE").corrected(1, "WE")
    first, second = table.rows(DealRow)
    assert (second.level, second.owner, second.leader) == (5, "NS", "W")
    assert table.levels == (3, 5)  # from now on: 2 → EW 5, then NS +1 from their 2
    assert first.result == parse_finish("NS")
    (row,) = table.rows(CorrectionRow)
    assert (row.was, row.result, row.by) == (parse_finish("NS"), parse_finish("WE"), "chief")
    assert table.match.sheet[-1] == row


def test_later_deals_may_be_void() -> None:
    table = Table().started().played("NS", "NS", "NS").corrected(1, "WE", "void_later")
    assert (table.levels, table.match.standing.deals) == ((2, 5), 1)
    assert (table.state.deal, table.match.level) == (4, 5)
    assert table.corrected(2, "WE").refused == "NO_SUCH_DEAL"
    assert table.played("WE").levels == (2, 8)  # a later deal counts again


def test_a_result_may_be_let_stand_with_its_error_on_the_sheet() -> None:
    table = Table().started().played("NS", "NS").corrected(1, "WE", "stand")
    assert (table.levels, table.match.standing.deals) == ((8, 2), 2)
    assert table.rows(CorrectionRow)[0].choice == "stand"


def test_the_last_of_two_corrections_counts() -> None:
    table = Table().started().played("NS").corrected(1, "WE").corrected(1, "NWE")
    assert table.levels == (3, 2)
    assert table.rows(CorrectionRow)[1].was == parse_finish("WE")


@pytest.mark.parametrize("steps", ["released", "counted", "laid", "valued", "in_play"])
def test_a_deal_begun_stays_what_it_is(steps: str) -> None:
    table = Table().started().played("NS")
    getattr(table, steps)()
    before = table.match
    after = table.corrected(1, "WNE").match
    for kept in ("phase", "level", "owner", "follows", "exchange", "leader", "clocks"):
        assert getattr(after, kept) == getattr(before, kept), kept
    if steps == "laid":
        table.valued()
    table.out("NS").does(match_events.ResultConfirmed, by="referee")
    assert (table.row.level, table.levels) == (5, (5, 4))


def test_a_redeal_is_dealt_by_what_the_sheet_says_now() -> None:
    table = Table().started().played("NS").released().corrected(1, "WNE")
    table.does(match_events.CountClaimed, seat="N").recounted(N=26)
    assert (table.match.level, table.match.owner) == (4, "EW")
    assert table.match.follows == parse_finish("WNE")
    assert table.match.duties is not None
    assert table.match.duties.cutter == "W"


def test_a_redeal_is_not_dealt_where_the_match_is_over_by_now() -> None:
    table = Table(from_level("K")).started().played("NS", "NWE").released().corrected(2, "NWS")
    assert table.phase is MatchPhase.COUNT_CHECK
    table.does(match_events.CountClaimed, seat="N").recounted(N=26)
    assert (table.phase, table.end.verdict.how) == (MatchPhase.OVER, "past_a")


def test_a_correction_may_end_the_match_before_its_next_deal() -> None:
    table = Table(from_level("K")).started().played("NS", "NWE").dealt().corrected(2, "NWS")
    assert (table.phase, table.levels) == (MatchPhase.OVER, (15, 13))


def test_a_correction_may_open_the_match_again() -> None:
    table = Table(from_level("K")).started().played("NS", "NS").corrected(2, "NWE")
    assert (table.phase, table.state.deal, table.levels) == (MatchPhase.CUT, 3, (14, 13))
    assert (table.match.verdict, table.match.score, table.match.version) == (None, None, 2)


def test_who_passed_a_first_has_won_whatever_was_played_later() -> None:
    table = Table(from_level("K")).started().played("NS", "NWE", "WE").in_play()
    table.corrected(2, "NWS").out("WE").does(match_events.ResultConfirmed, by="referee")
    assert table.levels == (15, 15)
    assert (table.end.verdict.winner, table.end.verdict.how) == ("NS", "past_a")


def test_a_correction_counts_failures_anew() -> None:
    table = Table(from_level("K", B)).started().played("NS", "NWE", "NWE")
    assert table.match.standing.failures.NS == 2
    table.corrected(2, "WE")
    assert table.match.standing.failures.NS == 2
    table.corrected(1, "WE")
    assert table.match.standing.failures.NS == 0  # they stood below A all the time


def test_an_order_that_is_none_is_refused() -> None:
    table = Table().started().played("NS")
    assert table.corrected(1, "NNS").refused == "NO_FINISH_ORDER"
    assert table.corrected(2, "NS").refused == "NO_SUCH_DEAL"


# -- who corrects ---------------------------------------------------------------


def _corrects(table: Table, role: Role, **said: Any) -> str | None:
    """Somebody corrects the first deal, if it is not said another; why he may not."""
    right: dict[str, Any] = {"deal": 1, "order": ("N", "W", "S"), "choice": "from_now"}
    by = {"by": "x", "role": role, "reason": "wrong"}
    return table.happens(match_events.ResultCorrected, **right | by | said).refused


@pytest.mark.parametrize("steps", ["started", "dealt"])
def test_the_last_deal_is_the_referees_to_correct_until_the_next_one_begins(steps: str) -> None:
    table = Table().started().played("NS")
    if steps == "dealt":
        table.dealt()
    assert _corrects(table, Role.TABLE) == "NOT_A_REFEREE"
    assert _corrects(table, Role.REFEREE) is None
    assert table.levels == (4, 2)


def test_an_earlier_deal_is_the_chiefs_to_correct() -> None:
    table = Table().started().played("NS").released()
    assert _corrects(table, Role.REFEREE) == "NEEDS_CHIEF"
    table.played("NS")
    assert _corrects(table, Role.REFEREE) == "NEEDS_CHIEF"
    assert _corrects(table, Role.REFEREE, deal=2) is None
    assert _corrects(table, Role.REFEREE, verbal=True) is None
    assert _corrects(table, Role.CHIEF) is None


def test_a_sheet_that_somebody_signed_is_the_chiefs_to_correct() -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    assert _corrects(table, Role.REFEREE) == "NEEDS_CHIEF"
    assert _corrects(table, Role.CHIEF) is None
    assert _corrects(table, Role.REFEREE) is None  # the new version nobody has signed


# -- signatures ---------------------------------------------------------------


@pytest.mark.parametrize(("profile", "due"), [(INTL, "NS EW referee"), (B, "W N referee")])
def test_a_sheet_is_signed_as_its_rulebook_says(profile: str, due: str) -> None:
    table = Table(timed(profile)).started().played("NS").at_minute(60)
    for signer in due.split():
        assert table.phase is MatchPhase.OVER
        table.does(match_events.SheetSigned, signer=signer, person="Somebody")
    assert table.phase is MatchPhase.SIGNED
    assert [one.signer for one in table.match.signatures] == due.split()


def test_nobody_signs_twice_nor_for_another() -> None:
    table = Table(timed()).started().played("NS").at_minute(60)
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    assert table.happens(match_events.SheetSigned, signer="NS", person="Sun").refused == "NO_SIGNER"
    assert table.happens(match_events.SheetSigned, signer="N", person="Nan").refused == "NO_SIGNER"


def test_a_correction_after_signing_makes_another_version_to_be_signed() -> None:
    table = Table(timed()).started().played("NS").at_minute(60).signed().corrected(1, "WE")
    assert (table.phase, table.match.version, table.match.signatures) == (MatchPhase.OVER, 2, ())
    assert [row.verdict.winner for row in table.rows(EndRow)] == ["NS", "EW"]
    assert table.signed().phase is MatchPhase.SIGNED


# -- the sheet as evidence ----------------------------------------------------


@pytest.mark.parametrize("profile", GUANDAN)
def test_rows_go_out_as_json_and_come_back_as_they_were(profile: str) -> None:
    table = Table(timed(profile)).started().played("NS", "NWE").in_play().ruled("EW", "foul")
    if table.phase is MatchPhase.FORFEIT:
        table.named("N")
    table.played("WNS") if table.phase is MatchPhase.CUT else table.out("WNS")
    if table.phase is MatchPhase.RESULT:
        table.does(match_events.ResultConfirmed, by="referee")
    table.corrected(1, "WE", "void_later").overturned().at_minute(60)
    sheet = msgspec.json.decode(msgspec.json.encode(table.match.sheet), type=Sheet)
    assert sheet == table.match.sheet
    assert replay_sheet(table.rules, sheet) == table.match.standing
    assert [row.row for row in sheet] == list(range(1, len(sheet) + 1))
    assert {type(row) for row in sheet} >= {DealRow, CorrectionRow, EndRow}


@pytest.mark.parametrize("profile", GUANDAN)
def test_events_go_out_as_json_and_come_back_as_they_were(profile: str) -> None:
    table = Table(timed(profile)).started().played("NS", "NWE").valued().returned()
    table.does(match_events.CountClaimed, seat="N").recounted().ruled("EW", "disqualification")
    for event in table.happened:
        there = msgspec.json.decode(msgspec.json.encode(event), type=match_events.MatchEvent)
        assert there == event
        assert type(there) is type(event)


def test_effects_go_out_as_json() -> None:
    table = Table(timed()).started().played("NS").valued().returned().at_minute(60)
    told = [msgspec.json.decode(msgspec.json.encode(effect)) for effect in table.told]
    assert [one["effect"] for one in told] == [
        effect.__struct_config__.tag for effect in table.told
    ]

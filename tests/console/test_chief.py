"""What is the chief's: his word, what may be wrong, who will be late, whose sheet is open."""

from typing import Any

import msgspec
import pytest

from controller.client.connection import TableConnectionState
from controller.console.freshness import ContactTimes, stamp_to_epoch_ms
from controller.console.table_snapshots import TableSnapshot
from controller.console.view.chief_page import ChiefView, build_chief_view, open_matter_names
from controller.console.view.integrity import HallNotes, OpenedHandNote, Workload
from controller.messages import ConnectedBoard, Firmware, PublicState, ReportedBoards
from controller.signing.releases import Manifest
from controller.signing.signed_heads import HeadConflict, KeptHead
from controller.words import Words
from tests.console.states import state

BEGUN = "2027-01-01T00:20:00.000+00:00"
NOW_MS = stamp_to_epoch_ms(BEGUN)
MINUTE_MS = 60_000


def heard(
    table: str,
    said: PublicState | None,
    contact: TableConnectionState = TableConnectionState.OPEN,
    area: str = "A",
) -> TableSnapshot:
    """Return a table as it was heard just now."""
    at_ms = NOW_MS - 100
    told = ContactTimes(link=contact, link_since_ms=at_ms, received_ms=at_ms, changed_ms=at_ms)
    return TableSnapshot(table=table, area=area, state=said, contact_times=told)


def seen_by_chief(*states: PublicState, noted: HallNotes | None = None) -> ChiefView:
    """Return what the chief sees of tables T1, T2, …"""
    seen = [heard(f"T{n}", said) for n, said in enumerate(states, start=1)]
    return build_chief_view(seen, NOW_MS, noted or HallNotes())


def calm(**match: Any) -> PublicState:
    """Return a state of which nothing is the chief's."""
    quiet: dict[str, Any] = {"rulings": [], "levels": {"NS": "3", "EW": "2"}, "clock": None}
    return state(time=BEGUN, match=quiet | match, fairness=[], sets=[])


def ruling(**said: Any) -> dict[str, Any]:
    """Return a ruling as JSON has it."""
    words = {"offence_en": "signal", "offence_zh": "非法信号", "penalty_zh": "犯规"}
    of: dict[str, Any] = {"id": "R1", "offence": "signal", "deal": 2, "side": "NS", "seat": "N"}
    how = {"penalty": "foul", "penalty_en": "foul", "article": None, "needs": "chief"}
    return words | of | how | {"state": "proposed", "by": "Li"} | said


def finding_kinds(view: ChiefView) -> list[str]:
    """Return what was found, in its order."""
    return [one.kind for one in view.integrity]


def test_of_a_calm_hall_nothing_is_the_chiefs() -> None:
    assert seen_by_chief(calm(), calm()) == ChiefView()


def test_a_table_that_was_never_heard_is_nobodys() -> None:
    assert build_chief_view([TableSnapshot(table="T1", area="A")], NOW_MS) == ChiefView()


# His word.


def test_rulings_that_need_the_chief_wait_for_him_and_others_do_not() -> None:
    view = seen_by_chief(calm(rulings=[ruling(), ruling(id="R2", needs="referee")]))
    assert [(one.table, one.ruling.id, one.verbal) for one in view.approvals] == [
        ("T1", "R1", False)
    ]


def test_what_he_said_by_word_waits_until_he_stands_by_it() -> None:
    by_word = {"state": "decided", "verbal": True, "approved_by": "Chen"}
    view = seen_by_chief(calm(rulings=[ruling(**by_word)]))
    assert [one.verbal for one in view.approvals] == [True]
    confirmed = calm(rulings=[ruling(**by_word, confirmed_by="Chen")])
    assert not seen_by_chief(confirmed).approvals


def test_a_correction_by_his_word_waits_until_he_stands_by_it() -> None:
    word = {"row": 3, "deal": 1, "by": "陈明", "entered_by": "李娜 (referee)", "reason": "misread"}
    waiting = calm(spoken=[word])
    (name,) = open_matter_names("T1", waiting)
    (told,) = seen_by_chief(waiting, noted=HallNotes(first_seen_ms={name: 1000})).spoken
    assert (told.table, told.correction.row, told.since_ms) == ("T1", 3, 1000)
    assert told.by == Words(
        "陈明 (chief, by word), entered by 李娜 (referee)", "裁判长陈明（口头），李娜（裁判员）录入"
    )


def test_who_waits_for_him_is_named_and_of_his_word_who_entered_it() -> None:
    said = {
        "state": "decided",
        "verbal": True,
        "approved_by": "陈明",
        "entered_by": "李娜 (referee)",
    }
    view = seen_by_chief(
        calm(rulings=[ruling(by="李娜 (referee)")]), calm(rulings=[ruling(**said)])
    )
    assert [one.by.zh for one in view.approvals] == [
        "李娜（裁判员）",
        "裁判长陈明（口头），李娜（裁判员）录入",
    ]


def test_who_waits_longest_for_his_word_comes_first() -> None:
    one, other = calm(rulings=[ruling()]), calm(rulings=[ruling()], match="M2")
    (first,), (second,) = open_matter_names("T1", one), open_matter_names("T2", other)
    noted = HallNotes(first_seen_ms={first: 2000, second: 1000})
    view = seen_by_chief(one, other, noted=noted)
    assert [(one.table, one.since_ms) for one in view.approvals] == [("T2", 1000), ("T1", 2000)]


def test_heavy_penalties_in_force_and_lost_matches_are_told() -> None:
    foul = ruling(state="decided", approved_by="Chen")
    light = ruling(id="R2", state="decided", penalty="warning")
    verdict = {"winner": "EW", "how": "forfeit", "how_en": "forfeit", "how_zh": "弃权"}
    view = seen_by_chief(calm(rulings=[foul, light]), calm(verdict=verdict), calm())
    assert [(one.table, one.words_en, one.by) for one in view.outcomes] == [
        ("T1", "foul: signal", "Chen"),
        ("T2", "forfeit", ""),
    ]


# What may be wrong.


@pytest.mark.parametrize(
    "contact", [TableConnectionState.OTHER_KEY, TableConnectionState.KEY_REFUSED]
)
def test_a_key_that_is_not_the_tables_is_told(contact: TableConnectionState) -> None:
    view = build_chief_view([heard("T1", calm(), contact)], NOW_MS)
    assert finding_kinds(view) == [contact.name.lower()]
    assert view.integrity[0].since_ms == NOW_MS - 100


def test_two_pasts_of_a_table_are_told_in_both_languages() -> None:
    def head(n: int, byte: str) -> KeptHead:
        return KeptHead(
            table="T1", table_key="k" * 40, n=n, head=byte * 64, sig="0" * 128, time=BEGUN
        )

    noted = HallNotes(disagreements=[HeadConflict("forked", head(7, "a"), head(7, "b"))])
    view = seen_by_chief(calm(), calm(), noted=noted)
    assert [(one.table, one.kind) for one in view.integrity] == [("T1", "two_pasts")]
    assert "rewritten" in view.integrity[0].words_en
    assert "改写" in view.integrity[0].words_zh


def test_heads_that_the_tables_key_did_not_sign_are_told() -> None:
    view = seen_by_chief(calm(), calm(), noted=HallNotes(unsigned_heads={"T2": 3}))
    assert [(one.table, one.kind) for one in view.integrity] == [("T2", "unsigned_head")]


def test_an_opened_hand_is_told_with_who_looked() -> None:
    hand = OpenedHandNote(table="T1", seat="W", by="Chen (chief)", deal=3, at_ms=5)
    view = seen_by_chief(calm(), noted=HallNotes(opened_hands=[hand]))
    (found,) = view.integrity
    assert (found.kind, found.deal, found.since_ms) == ("hand_opened", 3, 5)
    assert found.words_en == "Chen (chief) has looked at West's hand"
    assert found.words_zh == "Chen (chief)开验了西家手牌"


def test_a_set_in_doubt_names_the_last_deal_that_was_played_with_it() -> None:
    barred = {"id": "S1", "back": "A", "barred": ["FACE_THRICE"], "last_match": "M1"}
    said = msgspec.structs.replace(calm(), sets=state(sets=[barred | {"last_deal": 4}]).sets)
    (found,) = seen_by_chief(said).integrity
    assert (found.kind, found.deal) == ("set_barred", 4)
    assert "deal 4 of M1" in found.words_en


def test_deals_by_hand_uncut_or_dealt_again_are_told() -> None:
    proof = {"deal": 2, "attempt": 3, "commitment": "00", "uncut": True, "recalled": ["ORDERED"]}
    said = state(time=BEGUN, match={"rulings": [], "by_hand": True}, fairness=[proof], sets=[])
    assert finding_kinds(seen_by_chief(said)) == ["recalled", "uncut", "by_hand"]


def test_what_a_table_runs_is_held_against_the_manifest_where_there_is_one() -> None:
    board = Firmware(version="1", hash="aa")
    manifest = Manifest(
        version="0.1.0",
        released="2027-01-01",
        serial=1,
        files={"controller/a.py": "0" * 64},
        firmware={"dealer": board, "reader": board},
    )
    as_released, changed = (ConnectedBoard(version="1", hash=each) for each in ("aa", "bb"))
    right = msgspec.structs.replace(
        calm(), release=manifest.release, boards=ReportedBoards(dealer=as_released)
    )
    other = msgspec.structs.replace(right, boards=ReportedBoards(dealer=changed))
    without = msgspec.structs.replace(right, release=None)
    view = seen_by_chief(right, other, without, noted=HallNotes(manifest=manifest))
    assert [(one.table, one.words_en) for one in view.integrity] == [
        ("T2", "the dealer board's firmware is of another release"),
        ("T3", "the table's program is without a release"),
    ]
    assert not seen_by_chief(right, other, without).integrity


# Time, levels, sheets.


def under_way(deal: int, began_min: float, left_min: float = 10, **match: Any) -> PublicState:
    """Return a table in a deal that began so many minutes ago, 20 minutes after the start."""
    at_ms = 20 * MINUTE_MS
    left_ms = round(left_min * MINUTE_MS)
    clock = {"left_s": left_ms // 1000, "running": True, "deadline_ms": at_ms + left_ms}
    began_ms = at_ms - round(began_min * MINUTE_MS)
    times = {"at_ms": at_ms, "start_ms": 0, "began_ms": began_ms, "clock": clock}
    return calm(deal=deal, **(times | match))


def test_who_will_not_end_his_deal_in_time_is_named_with_what_that_is_taken_from() -> None:
    late = under_way(deal=2, began_min=4, left_min=10)  # its first took 16 minutes
    (found,) = seen_by_chief(late).overrun
    assert (found.table, found.pace_s, found.deals, found.by_s) == ("T1", 16 * 60, 1, 2 * 60)
    assert found.ends_ms == NOW_MS + 10 * MINUTE_MS


def test_who_will_end_his_deal_in_time_is_not_named() -> None:
    assert not seen_by_chief(under_way(deal=3, began_min=4, left_min=5)).overrun


def test_a_deal_that_lasts_beyond_its_time_is_late_by_that() -> None:
    (found,) = seen_by_chief(under_way(deal=2, began_min=19, left_min=-3)).overrun
    assert found.by_s == 3 * 60


def test_a_first_deal_goes_by_the_middle_of_its_area() -> None:
    others = [under_way(deal=deal, began_min=2, left_min=10) for deal in (2, 3, 4)]
    first = under_way(deal=1, began_min=1, left_min=5)
    found = {one.table: one for one in seen_by_chief(*others, first).overrun}
    assert (found["T4"].deals, found["T4"].pace_s) == (0, 9 * 60)
    assert not seen_by_chief(first).overrun  # alone nothing is known


def test_a_clock_that_stands_makes_nobody_late() -> None:
    still = {"left_s": 5, "running": False, "deadline_ms": None}
    assert not seen_by_chief(under_way(deal=2, began_min=1, clock=still)).overrun


def test_equal_levels_matter_in_a_knockout_near_its_end() -> None:
    equal: dict[str, Any] = {"stage": "knockout", "levels": {"NS": "5", "EW": "5"}}
    view = seen_by_chief(
        calm(**equal),
        calm(**equal, announced="announce_5"),
        calm(**equal, phase="match_check"),
        calm(**equal | {"stage": "swiss"}, announced="announce_5"),
        calm(stage="knockout", announced="announce_5"),
    )
    assert [(one.table, one.level, one.due) for one in view.equal] == [
        ("T2", "5", False),
        ("T3", "5", True),
    ]


def test_tables_at_a_are_named_with_what_they_failed() -> None:
    view = seen_by_chief(calm(levels={"NS": "A", "EW": "9"}, failures={"NS": 2, "EW": 0}), calm())
    assert [(one.table, one.sides, one.failures) for one in view.at_a] == [
        ("T1", ("NS",), {"NS": 2})
    ]


def test_sheets_that_are_finished_and_not_signed_are_named_with_who_is_missing() -> None:
    verdict = {"winner": "NS", "how": "level", "how_en": "level", "how_zh": "级数"}
    signed = [{"signer": "NS", "person": "Li"}]
    waits = calm(verdict=verdict, signed=signed, signers=["EW", "referee"])
    done = calm(verdict=verdict, signed=signed, signers=[])
    (name,) = open_matter_names("T1", waits)
    (found,) = seen_by_chief(waits, done, noted=HallNotes(first_seen_ms={name: 7})).unsigned
    assert (found.table, found.signed, found.signers) == ("T1", 1, ("EW", "referee"))
    assert found.since_ms == 7


def test_the_load_of_the_referees_is_told_as_it_was_noted() -> None:
    load = Workload(person="Li", tables=("T1",), done=3, average_ms=90_000, orders=12)
    assert seen_by_chief(calm(), noted=HallNotes(workloads=[load])).load == (load,)


@pytest.mark.parametrize(("began_min", "seconds"), [(4, 60), (19, 30)])
def test_a_running_second_is_no_news_for_the_chief(began_min: float, seconds: int) -> None:
    said = under_way(deal=2, began_min=began_min, left_min=-3 if began_min == 19 else 10)
    told = {
        msgspec.json.encode(build_chief_view([heard("T1", said)], NOW_MS + second * 1000))
        for second in range(seconds)
    }
    assert len(told) == 1

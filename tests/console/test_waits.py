"""Who waits for a referee, in the order of a hall."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.console.freshness import Freshness, stamp_to_epoch_ms
from controller.console.view.wait_reasons import (
    ESCALATION_MS,
    Urgency,
    WaitingTable,
    WaitReason,
    build_queue,
    build_waiting_table,
    is_deal_due,
)
from controller.faults import fault_catalogue
from controller.messages import PublicState, Role
from controller.words import CALL_WORDS
from tests.console.states import alert, call, list_reasons, state

AT = "2027-01-01T00:00:10.000+00:00"
AT_MS = stamp_to_epoch_ms(AT)


def found(**changes: Any) -> list[tuple[Urgency, str]]:
    said = list_reasons(state(**changes), Freshness.LIVE, 0)
    return [(one.rank, one.name) for one in said]


def test_a_quiet_table_waits_for_nobody() -> None:
    assert found() == []
    assert build_waiting_table("T01", (), None, 0) is None


def test_a_stop_with_people_at_the_table_comes_before_a_raised_hand() -> None:
    said = found(alerts=[alert("ESTOP_PRESSED")], calls=[call("button", seat="N")])
    assert said == [(Urgency.DANGER, "ESTOP_PRESSED"), (Urgency.BUTTON, "button")]


def test_a_stop_with_nobody_there_is_a_machine_that_stands() -> None:
    assert found(alerts=[alert("LID_OPENED")], match={"seated": []}) == [
        (Urgency.STOPPED, "LID_OPENED")
    ]


def test_a_fault_for_service_that_stops_nothing_is_for_the_technician() -> None:
    assert found(alerts=[alert("LINE_LOST")]) == [(Urgency.TECHNICAL, "LINE_LOST")]
    stands = found(alerts=[alert("LINE_LOST")], machine={"phase": "fault"})
    assert stands == [(Urgency.STOPPED, "LINE_LOST")]


def test_every_call_of_a_match_has_its_rank_and_words_in_both_languages(
    subtests: pytest.Subtests,
) -> None:
    for why, words in CALL_WORDS.items():
        said = call(why, words_en=words.en, words_zh=words.zh)
        with subtests.test(why=why):
            (one,) = list_reasons(state(calls=[said]), Freshness.LIVE, 0)
            assert Urgency.COUNT <= one.rank <= Urgency.LATE
            assert (one.words_en, one.words_zh) == (words.en, words.zh)


def test_every_fault_can_be_ranked() -> None:
    ranked = {name: len(found(alerts=[alert(name)])) for name in fault_catalogue()}
    assert {name: count for name, count in ranked.items() if count != 1} == {}


def test_a_table_that_is_not_heard_keeps_what_it_waited_for() -> None:
    said = list_reasons(state(calls=[call("button")]), Freshness.SILENT, 77)
    assert [(one.rank, one.since_ms) for one in said] == [
        (Urgency.BUTTON, AT_MS),
        (Urgency.UNHEARD, 77),
    ]
    assert [one.name for one in list_reasons(None, Freshness.KEY_REFUSED, 5)] == ["key_refused"]


def test_who_goes_there_is_said_and_who_nobody_goes_to_is_the_chiefs() -> None:
    said = list_reasons(state(calls=[call("button")]), Freshness.LIVE, 0)
    taken = build_waiting_table("T01", said, "Li Na", AT_MS + 10 * ESCALATION_MS)
    assert taken is not None
    assert (taken.taken_by, taken.chiefs) == ("Li Na", False)
    for late in (ESCALATION_MS - 1, ESCALATION_MS):
        left = build_waiting_table("T01", said, None, AT_MS + late)
        assert left is not None
        assert left.chiefs == (late == ESCALATION_MS)


def test_tables_that_wait_alike_stand_in_the_order_of_their_numbers() -> None:
    said = list_reasons(state(calls=[call("button")]), Freshness.LIVE, 0)
    waits = filter(
        None, (build_waiting_table(table, said, None, AT_MS) for table in ("T10", "T2", "T1"))
    )
    assert [one.table for one in build_queue(waits, Role.REFEREE)] == ["T1", "T2", "T10"]


def test_a_referee_does_not_see_what_is_for_the_technician() -> None:
    said = list_reasons(state(alerts=[alert("PANEL_LOST")]), Freshness.LIVE, 0)
    row = build_waiting_table("T01", said, None, AT_MS)
    assert row is not None
    assert build_queue([row], Role.REFEREE) == ()
    assert build_queue([row], Role.TECHNICIAN) == (row,)


def test_nor_does_he_see_it_beside_what_the_table_waits_for() -> None:
    both = state(alerts=[alert("PANEL_LOST")], calls=[call("button", seat="N")])
    row = build_waiting_table("T01", list_reasons(both, Freshness.LIVE, 0), "Li Na", AT_MS)
    assert row is not None
    (seen,) = build_queue([row], Role.REFEREE)
    assert [one.name for one in seen.reasons] == ["button"]
    assert (seen.table, seen.taken_by) == ("T01", "Li Na")
    assert build_queue([row], Role.TECHNICIAN) == (row,)


ranked = st.builds(
    WaitReason,
    rank=st.sampled_from(Urgency),
    name=st.just("x"),
    since_ms=st.integers(0, 9),
    words_en=st.just("x"),
    words_zh=st.just("x"),
)
waiting = st.builds(
    WaitingTable, table=st.text("AB", min_size=1), reasons=st.tuples(ranked), taken_by=st.none()
)


@given(waits=st.lists(waiting))
def test_nobody_who_is_less_urgent_or_came_later_stands_above(waits: list[WaitingTable]) -> None:
    rows = build_queue(waits, Role.TECHNICIAN)
    assert len(rows) == len(waits)
    for above, below in pairwise(rows):
        assert (above.rank, above.since_ms) <= (below.rank, below.since_ms)


DUE: dict[str, Any] = {"started": True, "phase": "dealing", "suspended": None, "by_hand": False}


@pytest.mark.parametrize("phase", ["empty", "released"])
@pytest.mark.parametrize("of_match", ["cut", "dealing"])
def test_a_machine_that_has_not_begun_a_deal_that_is_due_is_awaited(
    phase: str, of_match: str
) -> None:
    assert is_deal_due(state({"phase": phase, "pauses": {}}, match=DUE | {"phase": of_match}))


@pytest.mark.parametrize(
    ("machine", "match"),
    [
        ({"phase": "shuffling"}, {}),
        ({"phase": "committed"}, {"phase": "cut"}),
        ({"phase": "fault"}, {}),
        ({"pauses": {"referee": "Li Na"}}, {}),
        ({}, {"started": False}),
        ({}, {"phase": "play"}),
        ({}, {"suspended": "smoke"}),
        ({}, {"by_hand": True}),
        ({}, {"clock": {"left_s": 9, "running": False}}),
        ({}, {"verdict": {"winner": "NS", "how": "x", "how_en": "x", "how_zh": "x"}}),
    ],
)
def test_a_machine_that_has_nothing_to_do_or_was_stopped_is_not(
    machine: dict[str, Any], match: dict[str, Any]
) -> None:
    found = state({"phase": "empty", "pauses": {}} | machine, match=DUE | match)
    assert not is_deal_due(found)


def test_how_long_somebody_waits_is_counted_by_the_consoles_clock() -> None:
    """A table without the right time, as in a hall without internet, has people wait no longer."""
    behind_ms = 365 * 86_400_000
    said = state(calls=[call("button")], alerts=[alert("JAM")])
    right = list_reasons(said, Freshness.LIVE, 0)
    moved = list_reasons(said, Freshness.LIVE, 0, skew_ms=behind_ms)
    assert [one.since_ms for one in moved] == [one.since_ms + behind_ms for one in right]


RULING: dict[str, Any] = {
    "id": "R1",
    "offence": "x",
    "offence_en": "slow play",
    "offence_zh": "超时",
    "deal": 2,
    "side": "EW",
    "seat": "E",
    "penalty": "y",
    "penalty_en": "foul",
    "penalty_zh": "犯规",
    "article": None,
    "needs": "chief",
    "state": "proposed",
    "by": "Li Na (referee)",
    "at_ms": 5_000,
}


def proposed(*rulings: dict[str, Any], second: int = 20) -> PublicState:
    """Return a state so many seconds on in which rulings are proposed, or were."""
    return state(
        time=f"2027-01-01T00:00:{second}.400+00:00",
        match={"rulings": [RULING | one for one in rulings], "at_ms": second * 1000},
    )


def test_a_proposed_ruling_waits_for_somebody_as_a_decision_does() -> None:
    (one,) = list_reasons(proposed({}), Freshness.LIVE, 0)
    assert (one.rank, one.name) == (Urgency.DECISION, "ruling_chiefs")
    assert one.words_en == "ruling R1 waits for the chief referee: East, slow play: foul"
    assert one.words_zh == "判罚R1待裁判长裁定：东家，超时，犯规"
    mine = {"needs": "referee", "seat": None}
    (one,) = list_reasons(proposed(mine), Freshness.LIVE, 0)
    assert (one.rank, one.name) == (Urgency.DECISION, "ruling")
    assert one.words_zh == "判罚R1待裁判员裁定：东西，超时，犯规"


def test_a_proposed_ruling_waits_since_it_was_proposed_and_is_no_news_each_second() -> None:
    told = {
        list_reasons(proposed({}, second=second), Freshness.LIVE, 0) for second in range(10, 60)
    }
    ((one,),) = told
    assert one.since_ms == pytest.approx(stamp_to_epoch_ms("2027-01-01T00:00:05+00:00"), abs=1000)


def test_a_ruling_that_is_decided_or_rejected_waits_for_nobody() -> None:
    assert (
        list_reasons(proposed({"state": "decided"}, {"state": "rejected"}), Freshness.LIVE, 0) == ()
    )


def test_many_proposed_rulings_are_one_line() -> None:
    many = proposed(*({"id": f"R{n}", "at_ms": 1000 * n} for n in range(1, 60)))
    (one,) = list_reasons(many, Freshness.LIVE, 0)
    assert one.words_en.endswith("(and 58 more)")
    assert one.words_zh.endswith("（另58件）")


def test_what_the_chief_has_in_his_list_already_is_not_told_him_twice() -> None:
    later_ms = stamp_to_epoch_ms("2027-01-01T01:00:00+00:00")
    for one, chiefs in (({}, False), ({"needs": "referee"}, True)):
        waits = build_waiting_table(
            "T01", list_reasons(proposed(one), Freshness.LIVE, 0), None, later_ms
        )
        assert waits is not None
        assert waits.chiefs is chiefs

"""The attempt's reducer: right deals are held, anything else is refused with its reason."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.deal.attempt import Stage, new_attempt, step
from controller.deal.observations import (
    AttemptStopped,
    BothBegan,
    CardAtReader,
    CardGated,
    CardLanded,
    CardVerdict,
    FinalCount,
    HoldHands,
    LandingMissed,
    LookOutcome,
    LookOverdue,
    Observation,
    RefuseHands,
    RereadCard,
    RouteCard,
    ShufflerDone,
    StrayLanded,
)
from controller.deal.sequence import sequence

ORDER = sequence(bytes(32), bytes(32), 40, 108)
SMALL = sequence(bytes(32), bytes(32), 3, 12)

Make = Callable[..., Any]


def routed(played: Any) -> dict[int, str]:
    return {e.index: e.outlet for e in played.effects if isinstance(e, RouteCard)}


def reasons(played: Any) -> tuple[str, ...]:
    assert played.attempt.stage is Stage.ENDED
    return tuple(played.attempt.reasons)


def test_a_right_deal_is_held_with_every_card_where_the_sequence_says(
    fresh_table: Make, play_attempt: Make
) -> None:
    table = fresh_table()
    played = play_attempt(table, ORDER)
    assert played.held
    assert played.effects[-1] == HoldHands()
    assert [routed(played)[i] for i in range(1, 109)] == list(ORDER)
    assert {seat: len(cards) for seat, cards in table.pockets.items()} == dict.fromkeys("NWSE", 27)


@given(st.dictionaries(st.integers(0, 107), st.integers(1, 6), max_size=6))
def test_no_verdict_on_a_card_moves_another_cards_pocket(
    fresh_table: Make, play_attempt: Make, bad: dict[int, int]
) -> None:
    calm, troubled = fresh_table(), fresh_table(bad=dict(bad))
    assert play_attempt(calm, ORDER).held
    assert play_attempt(troubled, ORDER).held
    assert {s: set(c) for s, c in calm.pockets.items()} == {
        s: set(c) for s, c in troubled.pockets.items()
    }


def test_a_double_goes_to_the_tray_and_its_cards_take_its_place_and_the_unreached_one(
    fresh_table: Make, play_attempt: Make
) -> None:
    table = fresh_table(stuck=frozenset({50}))
    first = table.hopper.index(50)
    index = len(table.hopper) - first
    played = play_attempt(table, ORDER)
    assert played.held
    assert routed(played)[index] == "tray"
    assert routed(played)[108] == ORDER[index - 1]
    assert routed(played)[109] == ORDER[107]


def test_a_missing_card_is_short_and_an_extra_one_is_left_in_the_hopper(
    fresh_table: Make, play_attempt: Make
) -> None:
    assert reasons(play_attempt(fresh_table(107), ORDER)) == ("COUNT_SHORT",)
    assert reasons(play_attempt(fresh_table(109), ORDER)) == ("HOPPER_NOT_EMPTY",)


def test_a_card_that_no_look_can_read_ends_the_attempt_after_two_rounds_of_the_tray(
    fresh_table: Make, play_attempt: Make
) -> None:
    played = play_attempt(fresh_table(bad={7: 1000}), ORDER)
    assert reasons(played) == ("UNREADABLE",)
    assert played.attempt.ledger.refed == 2


def test_a_seventh_card_in_the_tray_ends_the_attempt(fresh_table: Make, play_attempt: Make) -> None:
    six, seven = (dict.fromkeys(range(count), 3) for count in (6, 7))
    assert play_attempt(fresh_table(bad=six), ORDER).held
    assert reasons(play_attempt(fresh_table(bad=seven), ORDER)) == ("TRAY_FULL",)


@pytest.fixture
def dealing() -> Any:
    """An attempt with its first card in the window."""
    attempt = new_attempt(SMALL, passes=1)
    for event in (BothBegan(), ShufflerDone(), CardAtReader(1)):
        attempt, _ = step(attempt, event)
    return attempt


def test_nothing_is_routed_before_both_the_window_and_the_reader_saw_the_card() -> None:
    attempt = new_attempt(SMALL, passes=1)
    for event in (BothBegan(), ShufflerDone()):
        attempt, _ = step(attempt, event)
    only_seen = step(attempt, CardAtReader(1))
    only_read = step(attempt, CardVerdict(1, LookOutcome.ACCEPT))
    for _, effects in (only_seen, only_read):
        assert not any(isinstance(effect, RouteCard) for effect in effects)
    assert step(only_seen[0], CardVerdict(1, LookOutcome.ACCEPT))[1] == (RouteCard(1, SMALL[0]),)
    both, effects = step(only_read[0], CardAtReader(1))
    assert effects[0] == RereadCard(1)  # the look may be one at the card before this one
    assert step(both, CardVerdict(1, LookOutcome.ACCEPT))[1] == (RouteCard(1, SMALL[0]),)


def test_a_card_that_is_not_read_in_time_gets_its_second_look(dealing: Any) -> None:
    assert step(dealing, LookOverdue(1))[1] == (RouteCard(1, "tray"),)


def test_an_answer_that_comes_after_the_route_changes_nothing(dealing: Any) -> None:
    routed_away, _ = step(dealing, LookOverdue(1))
    assert step(routed_away, CardVerdict(1, LookOutcome.ACCEPT)) == (routed_away, ())


def test_an_uncertain_look_is_taken_again_while_the_card_is_held(dealing: Any) -> None:
    _, effects = step(dealing, CardVerdict(1, LookOutcome.REREAD, "UNREADABLE"))
    assert effects[0] == RereadCard(1)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (CardAtReader(1), "COUNT_OVER"),
        (CardAtReader(3), "COUNT_OVER"),
        (CardVerdict(3, LookOutcome.ACCEPT), "PULSE_COUNT"),
        (CardGated(1, "N"), "EVENT_LOST"),
        (CardLanded(1, "N"), "EVENT_LOST"),
        (StrayLanded("W"), "WRONG_POCKET"),
        (LandingMissed(1), "NOT_LANDED"),
        (BothBegan(), "EVENT_LOST"),
        (AttemptStopped("LID_OPENED"), "LID_OPENED"),
    ],
)
def test_what_no_right_deal_can_bring_ends_the_attempt(
    dealing: Any, event: Observation, reason: str
) -> None:
    ended, effects = step(dealing, event)
    assert effects == (RefuseHands((reason,)),)
    assert step(ended, CardVerdict(1, LookOutcome.ACCEPT)) == (ended, ())


def test_a_card_seen_to_cross_to_another_pocket_is_a_wrong_pocket(dealing: Any) -> None:
    held, (route,) = step(dealing, CardVerdict(1, LookOutcome.ACCEPT))
    assert isinstance(route, RouteCard)
    other = next(seat for seat in "NWSE" if seat != route.outlet)
    assert step(held, CardGated(1, other))[1] == (RefuseHands(("WRONG_POCKET",)),)
    crossed, _ = step(held, CardGated(1, route.outlet))
    assert step(crossed, CardLanded(1, other))[1] == (RefuseHands(("WRONG_POCKET",)),)


def test_a_card_the_board_turned_into_the_tray_keeps_its_place(dealing: Any) -> None:
    held, _ = step(dealing, CardVerdict(1, LookOutcome.ACCEPT))
    for event in (CardGated(1, "tray"), CardLanded(1, "tray")):
        held, effects = step(held, event)
        assert effects == ()
    assert held.ledger.open_places == (1,)


SENSORS = [
    ({"hopper_empty": False}, "HOPPER_NOT_EMPTY"),
    ({"path_empty": False}, "PATH_NOT_CLEAR"),
    ({"tray_empty": False}, "COUNT_OVER"),
    ({"pockets_seen": (True, True, False, True)}, "SENSOR_STUCK"),
    ({"board_fed": 11}, "EVENT_LOST"),
    ({"board_landed": (3, 3, 4, 2)}, "EVENT_LOST"),
    ({"reader_pulses": 13}, "PULSE_COUNT"),
    ({"board_locked": False}, "BOARD_REFUSED"),
    ({"set_faults": ("THIRD_COPY", "MISSING_CARD")}, "THIRD_COPY"),
]


@pytest.mark.parametrize(("lie", "reason"), SENSORS, ids=[reason for _, reason in SENSORS])
def test_each_part_of_the_lock_alone_keeps_it_open(
    fresh_table: Make, play_attempt: Make, lie: dict[str, Any], reason: str
) -> None:
    def spoil(seen: list[Observation]) -> Sequence[Observation]:
        return [
            FinalCount(**{name: lie.get(name, getattr(e, name)) for name in e.__struct_fields__})
            if isinstance(e, FinalCount)
            else e
            for e in seen
        ]

    assert reason in reasons(play_attempt(fresh_table(12), SMALL, spoil))


@given(data=st.data())
def test_whatever_is_lost_repeated_or_bent_a_release_is_right_or_none(
    fresh_table: Make, play_attempt: Make, data: st.DataObject
) -> None:
    """A held attempt's ledger agrees with where the cards are, however its sightings came."""
    cards = data.draw(st.sampled_from([11, 12, 12, 12, 13]))
    table = fresh_table(
        cards,
        bad=data.draw(st.dictionaries(st.integers(0, 12), st.integers(1, 8), max_size=3)),
        stuck=data.draw(st.frozensets(st.integers(0, 12), max_size=2)),
    )
    harm = data.draw(st.sampled_from(["none", "none", "lose", "repeat", "swap", "bend"]))
    at = data.draw(st.integers(0, 40))
    count = 0

    def spoil(seen: list[Observation]) -> Sequence[Observation]:
        nonlocal count
        bent: list[Observation] = []
        for event in seen:
            count += 1
            bent.extend(_harmed(event, harm) if count == at else [event])
        return bent[::-1] if harm == "swap" and count >= at else bent

    played = play_attempt(table, SMALL, spoil)
    if played.held:
        assert {s: len(c) for s, c in table.pockets.items()} == dict.fromkeys("NWSE", 3)
        assert not table.tray
        assert not table.hopper
    assert sum(isinstance(e, HoldHands | RefuseHands) for e in played.effects) <= 1


def _harmed(event: Observation, harm: str) -> list[Observation]:
    if harm == "lose":
        return []
    if harm == "repeat":
        return [event, event]
    if harm == "bend" and isinstance(event, CardLanded | CardGated):
        return [type(event)(event.index, "N")]
    if harm == "bend" and isinstance(event, CardAtReader):
        return [CardAtReader(event.index, doubled=True)]
    return [event]

"""Which faults are active at a verdict, and what may be blamed on them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from sim.campaign.attempt_log import PossibleCauses, fault_text, is_needless, unexplained_codes
from sim.mechanics.fault_menu import FaultStrike, SimulatedFault, parse_fault
from sim.mechanics.world import World

pytestmark = pytest.mark.slow


class Clockwork:
    """As much of a world as suspects ask: its time, what is in force, and the cards inside."""

    def __init__(self, inside: int = 108) -> None:
        self.inside, self.people = inside, SimpleNamespace(cards_per_set=108)
        self.now = 0.0
        self.force: list[FaultStrike] = []
        self.clock = SimpleNamespace(now_s=lambda: self.now)
        self.suspects = PossibleCauses(cast(World, self))

    def active_faults(self) -> tuple[FaultStrike, ...]:
        return tuple(self.force)

    def truth(self) -> SimpleNamespace:
        return SimpleNamespace(hopper=range(self.inside), shuffler=())

    def strike(self, name: str, **fields: Any) -> FaultStrike:
        self.now += 1
        struck = FaultStrike(SimulatedFault(name, **fields), 1, self.now)
        self.suspects.add_strike(struck)
        return struck

    def verdict(self) -> None:
        self.now += 1
        self.suspects.end_attempt()

    def begun(self) -> None:
        self.now += 1
        self.suspects.begin_attempt()

    def names(self) -> list[str]:
        return [fault.name for fault in self.suspects.active_faults()]


@pytest.mark.parametrize(
    "text",
    ["jam:place=gate,clears_after=1", "double_feed", "unreadable:times=9", "lid:for_ms=300.0"],
)
def test_words_of_a_fault_are_read_as_that_fault(text: str) -> None:
    assert fault_text(parse_fault(text)) == text
    assert fault_text(SimulatedFault("wrong_pocket", rate=0.5, at=3, repeat=True)) == "wrong_pocket"


def test_a_code_is_accounted_for_by_any_active_fault_whose_row_has_it() -> None:
    jam, lid = SimulatedFault("jam", place="feeder"), SimulatedFault("lid")
    assert unexplained_codes(["JAM", "LID_OPENED"], [jam, lid]) == ()
    assert unexplained_codes(["JAM", "LID_OPENED"], [jam]) == ("LID_OPENED",)
    assert unexplained_codes(["JAM"], []) == ("JAM",)


def test_an_attempt_is_needless_unless_something_worse_than_mild_was_active() -> None:
    mild, worse = SimulatedFault("unreadable", times=1), SimulatedFault("wrong_pocket")
    assert is_needless([])
    assert is_needless([mild])
    assert not is_needless([mild, worse])


def test_what_struck_before_the_last_verdict_is_past_once_the_next_attempt_begins() -> None:
    world = Clockwork()
    world.strike("wrong_pocket")
    world.verdict()
    assert world.names() == ["wrong_pocket"]  # its alerts come behind the verdict
    world.strike("missing_card")  # in the set that is filled in for the next
    world.begun()
    assert world.names() == ["missing_card"]
    world.strike("double_feed")
    assert world.names() == ["missing_card", "double_feed"]


def test_what_is_still_so_is_active_however_long_ago_it_struck() -> None:
    world = Clockwork()
    world.force.append(world.strike("sensor_stuck"))
    for _ in range(3):
        world.verdict()
        world.begun()
    assert world.names() == ["sensor_stuck"]
    world.force.clear()
    assert world.names() == ["sensor_stuck"]  # its end disturbs the attempt in which it comes
    world.verdict()
    world.begun()
    assert world.names() == []


def test_what_people_do_accounts_for_words_and_is_no_fault_that_struck() -> None:
    world = Clockwork()
    world.suspects.add_action(SimulatedFault("lid"))
    assert world.names() == []
    assert unexplained_codes(["LID_OPENED"], world.suspects.all_causes()) == ()
    world.now = 1.0
    world.verdict()
    world.begun()
    assert unexplained_codes(["LID_OPENED"], world.suspects.all_causes()) == ("LID_OPENED",)


def test_a_set_that_is_spoiled_behind_a_verdict_belongs_to_the_next_attempt() -> None:
    world = Clockwork()
    world.strike("double_feed")
    world.verdict()
    world.strike("stall", motor="lift")
    world.strike("missing_card")
    assert [fault.name for fault in world.suspects.since_verdict()] == ["stall"]


@pytest.mark.parametrize(("inside", "accounted"), [(1, True), (107, True), (108, False)])
def test_an_attempt_that_begins_without_the_whole_set_may_be_called_short(
    inside: int, accounted: bool
) -> None:
    world = Clockwork(inside)
    world.begun()
    left = unexplained_codes(["COUNT_SHORT", "MISSING_CARD"], world.suspects.all_causes())
    assert left == (() if accounted else ("COUNT_SHORT", "MISSING_CARD"))


@pytest.mark.parametrize(("inside", "accounted"), [(108, False), (109, True)])
def test_an_attempt_that_begins_with_a_card_too_many_may_be_called_so(
    inside: int, accounted: bool
) -> None:
    world = Clockwork(inside)
    world.begun()
    left = unexplained_codes(["HOPPER_NOT_EMPTY"], world.suspects.all_causes())
    assert left == (() if accounted else ("HOPPER_NOT_EMPTY",))

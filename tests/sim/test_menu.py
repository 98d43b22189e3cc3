"""The fault menu as a whole: nothing forgotten, nothing unheard of, every level of wear."""

from pathlib import Path

import msgspec
import pytest

from controller.faults import fault_catalogue
from sim.mechanics.fault_effects import BYTE_FAULTS
from sim.mechanics.fault_menu import (
    MOTORS,
    PLACES,
    FaultError,
    SimulatedFault,
    accepted_codes,
    check_fault,
    check_wear,
    fault_menu,
    get_wear_level,
    is_mild,
    load_wear,
)
from sim.mechanics.sensors import DEALER_INPUTS

FIELDS = {field.name for field in msgspec.structs.fields(SimulatedFault)}
DERIVED: SimulatedFault | str = "derived"
# The error list E11 of deploy/CHECKLIST.md: the fault that brings it about, or what is derived
# from others.
E11: dict[str, SimulatedFault | str] = {
    "MISSING": SimulatedFault("missing_card"),
    "EXTRA": SimulatedFault("extra_card"),
    "DUPLICATE": SimulatedFault("third_copy"),
    "FOREIGN BACK": SimulatedFault("foreign_back"),
    "FACE-UP": SimulatedFault("face_up"),
    "UNREAD": SimulatedFault("unreadable"),
    "MISREAD-SUSPECT": SimulatedFault("misread"),
    "DOUBLE-FEED": SimulatedFault("double_feed"),
    "NO-FEED": SimulatedFault("no_feed"),
    "JAM": SimulatedFault("jam"),
    "POCKET-OVER": DERIVED,
    "POCKET-SHORT": DERIVED,
    "LEFTOVER-IN-PATH": SimulatedFault("left_in_path"),
    "HOPPER-EMPTY": SimulatedFault("hopper_early"),
    "DOOR": SimulatedFault("lid"),
    "READER-LOST": SimulatedFault("unplugged", board="reader"),
    "MCU-RESET": SimulatedFault("board_reset"),
    "MOTOR-STALL": SimulatedFault("stall"),
    "CLOCK": SimulatedFault("clock_jump"),
    "STORAGE": SimulatedFault("disk_full"),
    "CONFIG-CHANGED": SimulatedFault("settings_lost"),
    "UNSIGNED-FW": SimulatedFault("foreign_firmware"),
}


def test_every_error_that_a_machine_should_know_can_be_brought_about() -> None:
    assert len(E11) == 22
    for fault in E11.values():
        assert isinstance(fault, str) or check_fault(fault)


def test_every_fault_of_the_menu_comes_in_hostile() -> None:
    level = get_wear_level("hostile")
    assert {fault.name for fault in level.rates} == set(fault_menu())


def test_hostile_has_a_card_left_behind_with_a_full_hopper_and_a_flutter_with_a_miss() -> None:
    pairs = {
        frozenset(fault.name for fault in pair.faults)
        for pair in get_wear_level("hostile").together
    }
    assert frozenset({"left_in_pocket", "extra_card"}) in pairs
    assert frozenset({"sensor_bounce", "missed_landing"}) in pairs
    assert frozenset({"sensor_bounce", "on_the_floor"}) in pairs


def test_hostile_has_every_sensor_every_motor_and_every_place() -> None:
    rates = get_wear_level("hostile").rates
    for name in ("sensor_stuck", "sensor_late", "sensor_bounce"):
        assert {fault.sensor for fault in rates if fault.name == name} == set(DEALER_INPUTS)
    assert {fault.motor for fault in rates if fault.name == "stall"} == set(MOTORS)
    for name in ("jam", "left_in_path"):
        assert {fault.place for fault in rates if fault.name == name} == set(PLACES)
    for name in BYTE_FAULTS:
        ways = {(fault.board, fault.way) for fault in rates if fault.name == name}
        assert len(ways) == 4


@pytest.mark.parametrize("level", ["ideal", "worn", "hostile"])
def test_the_levels_of_the_menu_are_sound(level: str) -> None:
    assert check_wear(get_wear_level(level)) is get_wear_level(level)


def test_nothing_goes_wrong_with_an_ideal_machine() -> None:
    assert (get_wear_level("ideal").rates, get_wear_level("ideal").together) == ((), ())


def test_the_fields_that_a_fault_takes_exist(subtests: pytest.Subtests) -> None:
    for name, entry in fault_menu().items():
        with subtests.test(name):
            assert set(entry.takes) <= FIELDS
            assert set(entry.mild or ()) <= {*entry.takes, "repeat"}


def _codes(name: str) -> set[str]:
    right = fault_menu()[name].blame
    if not isinstance(right, dict):
        return set(right)
    return {code for field, codes in right.items() if field != "by" for code in codes}


def test_a_fault_is_blamed_on_codes_that_the_machine_has(subtests: pytest.Subtests) -> None:
    for name in fault_menu():
        with subtests.test(name):
            known = {fault.name for fault in fault_catalogue().values()}
            assert _codes(name) <= known


CHOICES = {"place": PLACES, "motor": MOTORS, "sensor": DEALER_INPUTS, "pocket": tuple("01234")}


@pytest.mark.parametrize(
    "name", [name for name, entry in fault_menu().items() if isinstance(entry.blame, dict)]
)
def test_blame_by_a_field_has_a_line_for_each_of_its_values(name: str) -> None:
    right = fault_menu()[name].blame
    assert isinstance(right, dict)
    assert set(right) - {"by"} == set(CHOICES[str(right["by"])])
    assert right["by"] in fault_menu()[name].takes


def test_a_fault_that_the_machine_need_not_absorb_has_a_word_for_it() -> None:
    for fault in get_wear_level("hostile").rates:
        # A double sensor that sees nothing, and a level that is late, harm nobody.
        harmless = fault.name in ("sensor_late", "left_in_path")
        assert is_mild(fault) or harmless or accepted_codes(fault), fault


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        (SimulatedFault("jam", place="landing"), ("NOT_LANDED",)),
        (SimulatedFault("stall", motor="gate"), ("STALL",)),
        (SimulatedFault("left_in_pocket", pocket=4), ("PATH_NOT_CLEAR",)),
        (SimulatedFault("pulse_lost"), ("PULSE_COUNT",)),
    ],
)
def test_the_right_words_for_a_fault_follow_from_its_fields(
    fault: SimulatedFault, codes: tuple[str, ...]
) -> None:
    assert accepted_codes(fault) == codes


@pytest.mark.parametrize(
    ("fault", "mild"),
    [
        (SimulatedFault("jam", clears_after=2), True),
        (SimulatedFault("jam", clears_after=3), False),
        (SimulatedFault("jam"), False),
        (SimulatedFault("jam", place="landing", clears_after=1), False),
        (SimulatedFault("unreadable"), True),
        (SimulatedFault("unreadable", repeat=True), False),
        (SimulatedFault("sensor_late", ms=50), True),
        (SimulatedFault("sensor_late", ms=51), False),
        (SimulatedFault("missing_card"), False),
        (SimulatedFault("clock_jump"), True),
    ],
)
def test_a_fault_is_mild_within_the_bounds_of_its_fields(fault: SimulatedFault, mild: bool) -> None:
    assert is_mild(fault) is mild


def test_a_level_of_ones_own_is_a_file_like_the_levels_of_the_menu(tmp_path: Path) -> None:
    written = tmp_path / "own.toml"
    written.write_text(
        'rates = [{ name = "jam", clears_after = 1, rate = 0.5 }]\n'
        'together = [{ rate = 0.1, faults = [{ name = "lid" }, { name = "estop" }] }]\n'
    )
    level = load_wear(written)
    assert level.rates == (SimulatedFault("jam", clears_after=1, rate=0.5),)
    assert level.together[0].faults == (SimulatedFault("lid"), SimulatedFault("estop"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('rates = [{ name = "gremlin", rate = 1 }]', "no fault is called 'gremlin'"),
        ('rates = [{ name = "jam" }]', "has a rate above 0"),
        ('rates = [{ name = "jam", motor = "gate", rate = 0.1 }]', "not motor"),
        ('together = [{ rate = 0, faults = [{ name = "lid" }] }]', "rate is above 0"),
        ('together = [{ rate = 1, faults = [{ name = "lid", rate = 1 }] }]', "none has a rate"),
        ("level = 3", "level"),
        ("rates = [", "own.toml"),
    ],
)
def test_a_level_that_cannot_be_is_refused_in_one_line(
    tmp_path: Path, text: str, complaint: str
) -> None:
    written = tmp_path / "own.toml"
    written.write_text(text)
    with pytest.raises(FaultError) as refusal:
        load_wear(written)
    assert complaint in str(refusal.value)
    assert "\n" not in str(refusal.value)
    with pytest.raises(FaultError):
        load_wear(tmp_path / "nowhere.toml")

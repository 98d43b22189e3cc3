"""The panel on mock pins, in virtual time: one press is one press."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pytest_mock import MockerFixture

from drivers.panel import (
    DEBOUNCE_S,
    LONG_PRESS_S,
    ButtonRole,
    LampMode,
    Lamps,
    PanelDriver,
    PanelLost,
    PanelPins,
    Press,
    PressKind,
    SwitchChange,
)
from tests.panel.late_pins import LatePins

pytestmark = pytest.mark.virtual

PINS = PanelPins()
GREEN_N, RED_S, START = PINS.north_green, PINS.south_red, PINS.start


class Rig:
    """A panel, and fingers on its pins."""

    def __init__(self) -> None:
        self.factory = LatePins()
        self.presses: list[Press] = []
        self.switches: list[SwitchChange] = []
        self.lost: list[PanelLost] = []
        self.panel = PanelDriver(
            PINS,
            self.factory,
            self.presses.append,
            on_switch=self.switches.append,
            on_lost=self.lost.append,
        )

    def pin(self, number: int) -> Any:
        return self.factory.pin(number)

    async def press(self, number: int, for_s: float = 0.1) -> None:
        self.pin(number).drive_low()
        await asyncio.sleep(for_s)
        self.pin(number).drive_high()
        await asyncio.sleep(0.1)

    def move(self, number: int, *, down: bool, late_s: float) -> None:
        """Close or open a contact; the loop was busy and takes the edge `late_s` later."""
        self.factory.late_s = late_s
        pin = self.pin(number)
        (pin.drive_low if down else pin.drive_high)()
        self.factory.late_s = 0.0

    @property
    def acts(self) -> list[PressKind]:
        return [press.kind for press in self.presses]

    def lit(self) -> set[str]:
        lamps = ("lamp_red", "lamp_amber", "lamp_green", "buzzer")
        return {lamp for lamp in lamps if self.pin(getattr(PINS, lamp)).state}


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    made = Rig()
    yield made
    made.panel.close()


async def test_a_short_press_is_told_at_once_and_when_it_is_over(rig: Rig) -> None:
    await rig.press(GREEN_N)
    assert rig.presses == [
        Press(ButtonRole.GREEN, "N", PressKind.DOWN),
        Press(ButtonRole.GREEN, "N", PressKind.SHORT),
    ]


async def test_each_seat_has_its_own_two_buttons_and_start_has_no_seat(rig: Rig) -> None:
    for number in (PINS.north_red, PINS.west_green, PINS.east_red, START):
        await rig.press(number)
    downs = [(press.role, press.seat) for press in rig.presses if press.kind is PressKind.DOWN]
    assert downs == [
        (ButtonRole.RED, "N"),
        (ButtonRole.GREEN, "W"),
        (ButtonRole.RED, "E"),
        (ButtonRole.START, None),
    ]


async def test_a_bouncing_contact_is_one_press(rig: Rig) -> None:
    for _ in range(7):
        rig.pin(RED_S).drive_low()
        await asyncio.sleep(0.003)
        rig.pin(RED_S).drive_high()
        await asyncio.sleep(0.002)
    await rig.press(RED_S)
    assert [press.kind for press in rig.presses] == [PressKind.DOWN, PressKind.SHORT]


async def test_a_contact_that_never_settles_closed_is_no_press(rig: Rig) -> None:
    rig.pin(RED_S).drive_low()
    await asyncio.sleep(0.005)
    rig.pin(RED_S).drive_high()
    await asyncio.sleep(1)
    assert rig.presses == []


async def test_a_press_of_a_second_and_a_half_is_held_and_no_short_one(rig: Rig) -> None:
    await rig.press(GREEN_N, for_s=1.6)
    assert [press.kind for press in rig.presses] == [PressKind.DOWN, PressKind.HELD]


async def test_a_press_just_too_short_is_not_held(rig: Rig) -> None:
    await rig.press(GREEN_N, for_s=1.49)
    assert [press.kind for press in rig.presses] == [PressKind.DOWN, PressKind.SHORT]


async def test_a_tap_that_begins_and_ends_while_the_loop_is_busy_is_a_short_press(rig: Rig) -> None:
    rig.move(GREEN_N, down=True, late_s=0.15)
    rig.move(GREEN_N, down=False, late_s=0)
    await asyncio.sleep(0.1)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT]


async def test_a_tap_is_short_however_late_the_loop_takes_its_edges(rig: Rig) -> None:
    rig.move(GREEN_N, down=True, late_s=3.15)
    rig.move(GREEN_N, down=False, late_s=3)
    await asyncio.sleep(3)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT]


async def test_two_taps_while_the_loop_is_busy_are_two_presses(rig: Rig) -> None:
    for down_s, up_s in ((0.6, 0.45), (0.25, 0.1)):
        rig.move(GREEN_N, down=True, late_s=down_s)
        rig.move(GREEN_N, down=False, late_s=up_s)
    await asyncio.sleep(0.1)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT, PressKind.DOWN, PressKind.SHORT]


async def test_a_contact_that_bounces_while_the_loop_is_busy_is_one_press(rig: Rig) -> None:
    for bounce_s in (0.210, 0.206):
        rig.move(RED_S, down=True, late_s=bounce_s)
        rig.move(RED_S, down=False, late_s=bounce_s - 0.002)
    rig.move(RED_S, down=True, late_s=0.2)
    rig.move(RED_S, down=False, late_s=0.05)
    rig.move(RED_S, down=True, late_s=0.045)
    rig.move(RED_S, down=False, late_s=0.04)
    await asyncio.sleep(0.1)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT]


async def test_a_tap_shorter_than_a_contact_settles_is_no_press_also_where_it_is_taken_late(
    rig: Rig,
) -> None:
    rig.move(RED_S, down=True, late_s=0.5)
    rig.move(RED_S, down=False, late_s=0.5 - DEBOUNCE_S + 0.001)
    await asyncio.sleep(3)
    assert rig.presses == []


async def test_a_press_of_two_seconds_while_the_loop_is_busy_is_held(rig: Rig) -> None:
    rig.move(GREEN_N, down=True, late_s=2)
    rig.move(GREEN_N, down=False, late_s=0)
    await asyncio.sleep(0.1)
    assert rig.acts == [PressKind.DOWN, PressKind.HELD]


async def test_a_button_that_is_still_down_is_held_as_long_after_its_own_time(rig: Rig) -> None:
    rig.move(GREEN_N, down=True, late_s=1)
    await asyncio.sleep(LONG_PRESS_S - 1)
    assert rig.acts == [PressKind.DOWN]
    await asyncio.sleep(DEBOUNCE_S)
    assert rig.acts == [PressKind.DOWN, PressKind.HELD]


async def test_a_release_that_waits_in_the_loops_queue_counts_before_a_hold_that_is_due(
    rig: Rig,
) -> None:
    due_s = LONG_PRESS_S + DEBOUNCE_S
    asyncio.get_running_loop().call_later(
        due_s, lambda: rig.move(GREEN_N, down=False, late_s=due_s - 0.15)
    )
    rig.pin(GREEN_N).drive_low()
    await asyncio.sleep(3)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT]


async def test_a_second_press_that_waits_in_the_loops_queue_is_not_the_first_one_held(
    rig: Rig,
) -> None:
    due_s = LONG_PRESS_S + DEBOUNCE_S

    def tap_again() -> None:
        rig.move(GREEN_N, down=False, late_s=due_s - 0.15)
        rig.move(GREEN_N, down=True, late_s=due_s - 0.30)

    asyncio.get_running_loop().call_later(due_s, tap_again)
    rig.pin(GREEN_N).drive_low()
    await asyncio.sleep(due_s + 0.1)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT, PressKind.DOWN]
    await asyncio.sleep(0.3)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT, PressKind.DOWN, PressKind.HELD]


async def test_a_contact_that_opens_for_a_moment_as_a_hold_is_due_is_held_all_the_same(
    rig: Rig,
) -> None:
    rig.pin(GREEN_N).drive_low()
    await asyncio.sleep(LONG_PRESS_S - 0.005)
    rig.pin(GREEN_N).drive_high()
    await asyncio.sleep(0.015)
    rig.pin(GREEN_N).drive_low()
    await asyncio.sleep(0.1)
    assert rig.acts == [PressKind.DOWN, PressKind.HELD]


async def test_a_hold_waits_for_a_contact_whose_last_edge_the_pin_library_drops(
    rig: Rig, mocker: MockerFixture
) -> None:
    pin = rig.pin(GREEN_N)
    pin.drive_low()
    await asyncio.sleep(LONG_PRESS_S - 0.001)
    pin.drive_high()
    dropped = mocker.patch.object(pin, "_call_when_changed")
    pin.drive_low()
    mocker.stop(dropped)
    await asyncio.sleep(0.2)
    assert rig.acts == [PressKind.DOWN, PressKind.HELD]


async def test_a_lid_that_was_open_for_a_moment_while_the_loop_was_busy_is_reported(
    rig: Rig,
) -> None:
    rig.pin(PINS.lid).drive_low()
    await asyncio.sleep(0.1)
    rig.move(PINS.lid, down=False, late_s=0.1)
    rig.move(PINS.lid, down=True, late_s=0)
    await asyncio.sleep(0.1)
    assert rig.switches == [
        SwitchChange("lid", False),
        SwitchChange("lid", True),
        SwitchChange("lid", False),
    ]


async def test_an_edge_that_the_pin_library_drops_is_found_by_the_level(
    rig: Rig, mocker: MockerFixture
) -> None:
    pin = rig.pin(GREEN_N)
    pin.drive_low()
    dropped = mocker.patch.object(pin, "_call_when_changed")
    pin.drive_high()
    mocker.stop(dropped)
    await asyncio.sleep(0.1)
    assert rig.presses == []
    await rig.press(GREEN_N)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT]


async def test_two_buttons_at_once_are_two_presses(rig: Rig) -> None:
    await asyncio.gather(rig.press(GREEN_N, for_s=2), rig.press(RED_S))
    told = [(press.seat, press.kind) for press in rig.presses]
    assert told == [
        ("N", PressKind.DOWN),
        ("S", PressKind.DOWN),
        ("S", PressKind.SHORT),
        ("N", PressKind.HELD),
    ]


async def test_a_broken_wire_is_an_open_lid_and_a_pressed_stop_and_each_change_is_told(
    rig: Rig,
) -> None:
    rig.pin(PINS.lid).drive_low()
    rig.pin(PINS.estop).drive_low()
    await asyncio.sleep(0.1)
    rig.pin(PINS.estop).drive_high()
    await asyncio.sleep(0.1)
    assert rig.switches == [
        SwitchChange("lid", False),
        SwitchChange("estop", False),
        SwitchChange("estop", True),
    ]


async def test_the_lamps_show_what_they_are_told(rig: Rig) -> None:
    rig.panel.set_lamps(Lamps(red=LampMode.ON, buzzer=LampMode.ON))
    assert rig.lit() == {"lamp_red", "buzzer"}
    rig.panel.set_lamps(Lamps(green=LampMode.ON))
    assert rig.lit() == {"lamp_green"}


async def test_a_blinking_lamp_blinks_by_the_loop_until_it_is_told_to_stop(rig: Rig) -> None:
    rig.panel.set_lamps(Lamps(amber=LampMode.BLINK, green=LampMode.ON))
    seen = []
    for _ in range(6):
        await asyncio.sleep(0.25)
        seen.append("lamp_amber" in rig.lit())
    assert seen == [True, False, False, True, True, False]
    rig.panel.set_lamps(Lamps(amber=LampMode.ON))
    await asyncio.sleep(5)
    assert rig.lit() == {"lamp_amber"}


async def test_showing_the_same_again_does_not_disturb_the_blinking(rig: Rig) -> None:
    lamps = Lamps(red=LampMode.BLINK)
    rig.panel.set_lamps(lamps)
    await asyncio.sleep(0.6)
    rig.panel.set_lamps(lamps)
    assert rig.lit() == set()


async def test_a_closed_panel_hears_nothing_and_leaves_no_timer(rig: Rig) -> None:
    rig.panel.set_lamps(Lamps(red=LampMode.BLINK))
    rig.pin(GREEN_N).drive_low()
    rig.panel.close()
    await asyncio.sleep(3)
    assert rig.presses == []


async def test_a_panel_that_a_press_closes_takes_no_further_edge(rig: Rig) -> None:
    pressed: list[Press] = []

    def close(press: Press) -> None:
        pressed.append(press)
        rig.panel.close()

    rig.panel.close()
    rig.panel = PanelDriver(PINS, rig.factory, close)
    rig.move(GREEN_N, down=True, late_s=0.3)
    rig.move(GREEN_N, down=False, late_s=0.1)
    await asyncio.sleep(3)
    assert pressed == [Press(ButtonRole.GREEN, "N", PressKind.DOWN)]


async def test_two_panels_live_beside_each_other_on_factories_of_their_own(rig: Rig) -> None:
    other = Rig()
    await other.press(GREEN_N)
    assert rig.presses == []
    assert len(other.presses) == 2
    other.panel.close()


async def test_a_pin_that_cannot_be_had_is_a_lost_panel(rig: Rig) -> None:
    with pytest.raises(PanelLost, match=r"the panel's pins cannot be used: .*GPIO5"):
        PanelDriver(PINS, rig.factory, rig.presses.append)


async def test_a_pin_that_tells_no_edges_is_given_back(rig: Rig, mocker: MockerFixture) -> None:
    rig.panel.close()
    silent = mocker.patch.object(
        type(rig.pin(START)), "_set_edges", side_effect=OSError("no interrupt")
    )
    with pytest.raises(PanelLost, match="no interrupt"):
        PanelDriver(PINS, rig.factory, rig.presses.append)
    mocker.stop(silent)
    rig.panel = PanelDriver(PINS, rig.factory, rig.presses.append)
    await rig.press(START)
    assert rig.acts == [PressKind.DOWN, PressKind.SHORT]


async def test_a_lamp_that_fails_is_a_lost_panel(rig: Rig, mocker: MockerFixture) -> None:
    mocker.patch.object(rig.pin(PINS.lamp_red), "_set_state", side_effect=OSError("no device"))
    with pytest.raises(PanelLost, match="no device"):
        rig.panel.set_lamps(Lamps(red=LampMode.ON))
    rig.pin(PINS.lid).drive_low()
    await rig.press(GREEN_N)
    assert (rig.presses, rig.switches) == ([], [])


async def test_a_lamp_that_fails_while_it_blinks_is_told_once(
    rig: Rig, mocker: MockerFixture
) -> None:
    rig.panel.set_lamps(Lamps(red=LampMode.BLINK))
    mocker.patch.object(rig.pin(PINS.lamp_red), "_set_state", side_effect=OSError("no device"))
    await asyncio.sleep(5)
    assert [error.why for error in rig.lost] == ["no device"]


async def test_a_button_that_fails_is_told_once(rig: Rig, mocker: MockerFixture) -> None:
    pin = rig.pin(GREEN_N)
    mocker.patch.object(pin, "_get_state", side_effect=OSError("no device"))
    for _ in range(2):
        pin.drive_low()
        await asyncio.sleep(0.1)
        pin.drive_high()
        await asyncio.sleep(0.1)
    assert [error.why for error in rig.lost] == ["no device"]
    assert rig.presses == []

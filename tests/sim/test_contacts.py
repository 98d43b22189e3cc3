"""The panel of a simulated table: contacts, lamps, and the person who sees and presses them."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from controller.config import PanelSection as PanelSection
from drivers.panel import (
    ButtonRole,
    LampMode,
    Lamps,
    PanelDriver,
    PanelPins,
    Press,
    PressKind,
    SwitchChange,
)
from sim.attendant import Attendant
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.world import World
from sim.panel_contacts import BUTTONS, LAMPS, SWITCHES, NoSuchButton, PanelContacts
from sim.pin_factories import ContactsFactory
from tests.sim.bench import Bench

pytestmark = pytest.mark.virtual


class Rig:
    """A world with its contacts, and the real panel driver wired to them."""

    def __init__(self) -> None:
        self.world = World(MechanicsSettings(cards=8), random.Random(1))
        self.bench = Bench(self.world)
        self.contacts = PanelContacts(self.world)
        self.presses: list[Press] = []
        self.switches: list[SwitchChange] = []
        self.factory = ContactsFactory(self.contacts)
        self.panel = PanelDriver(
            PanelPins(), self.factory, self.presses.append, on_switch=self.switches.append
        )
        self._attendant: asyncio.Task[None] | None = None

    def attend(self) -> None:
        attendant = Attendant(self.world, self.contacts)
        self._attendant = asyncio.create_task(attendant.run())

    def starts(self) -> int:
        return self.presses.count(Press(ButtonRole.START, None, PressKind.SHORT))

    async def close(self) -> None:
        if self._attendant is not None:
            self._attendant.cancel()
            await asyncio.gather(self._attendant, return_exceptions=True)
        self.panel.close()
        self.factory.close()
        self.contacts.close()
        self.world.close()


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    made = Rig()
    yield made
    await made.close()


def test_the_wires_end_where_the_panel_and_its_configuration_expect_them() -> None:
    def numbers(pins: Any) -> dict[str, int]:
        return {key: value for key, value in msgspec.structs.asdict(pins).items() if key != "pins"}

    wires = {**BUTTONS, **SWITCHES, **LAMPS}
    assert numbers(PanelPins()) == wires
    assert numbers(PanelSection(pins="mock")) == wires


async def test_a_tapped_button_is_a_press_of_the_panel(rig: Rig) -> None:
    await rig.contacts.tap("east_red")
    await asyncio.sleep(0.1)
    assert rig.presses == [
        Press(ButtonRole.RED, "E", PressKind.DOWN),
        Press(ButtonRole.RED, "E", PressKind.SHORT),
    ]


async def test_a_button_held_down_is_a_held_press(rig: Rig) -> None:
    rig.contacts.press("west_green")
    await asyncio.sleep(2)
    rig.contacts.release("west_green")
    await asyncio.sleep(0.1)
    assert rig.presses[-1] == Press(ButtonRole.GREEN, "W", PressKind.HELD)


async def test_lid_and_stop_of_the_machine_are_the_panels(rig: Rig) -> None:
    assert rig.switches == []
    rig.world.set_lid(True)
    rig.world.set_estop(True)
    await asyncio.sleep(0.1)
    assert rig.switches == [SwitchChange("lid", True), SwitchChange("estop", True)]


async def test_a_cut_wire_reads_as_an_open_lid(rig: Rig) -> None:
    rig.contacts.set_pin(SWITCHES["lid"], True)
    await asyncio.sleep(0.1)
    assert rig.switches == [SwitchChange("lid", True)]


async def test_the_stack_light_is_seen(rig: Rig) -> None:
    rig.panel.set_lamps(Lamps(amber=LampMode.ON, buzzer=LampMode.BLINK))
    assert rig.contacts.lamps == {
        "lamp_red": False,
        "lamp_amber": True,
        "lamp_green": False,
        "buzzer": True,
    }


async def test_there_is_no_button_but_those_of_the_panel(rig: Rig) -> None:
    with pytest.raises(NoSuchButton, match="no button is called 'bell'"):
        rig.contacts.press("bell")
    with pytest.raises(NoSuchButton, match="no contact is on pin 16"):
        rig.contacts.set_pin(LAMPS["lamp_red"], True)


async def test_the_attendant_takes_lifted_hands_loads_them_and_presses_start(rig: Rig) -> None:
    for outlet in (0, 1, 2, 3):
        await rig.bench.deal(outlet)
    rig.attend()
    await rig.bench.raise_lift()
    await asyncio.sleep(3)
    assert [len(hand) for hand in rig.world.truth().hands] == [1, 1, 1, 1]
    await asyncio.sleep(5)
    truth = rig.world.truth()
    assert (len(truth.hopper), sum(map(len, truth.hands))) == (8, 0)
    assert rig.starts() >= 1


async def test_the_attendant_clears_up_at_the_red_lamp_and_presses_start(rig: Rig) -> None:
    await rig.bench.deal(2)
    rig.attend()
    await asyncio.sleep(1)
    rig.panel.set_lamps(Lamps(red=LampMode.ON))
    await asyncio.sleep(3.2)
    rig.panel.set_lamps(Lamps())
    await asyncio.sleep(1)
    assert len(rig.world.hopper) == 8
    assert [switch.on for switch in rig.switches if switch.name == "lid"] == [True, False]
    assert rig.starts() == 1


async def test_the_attendant_sees_a_blinking_red_lamp_too(rig: Rig) -> None:
    await rig.bench.deal(2)
    rig.attend()
    rig.panel.set_lamps(Lamps(red=LampMode.BLINK))
    await asyncio.sleep(4)
    assert len(rig.world.hopper) == 8


async def test_the_attendant_leaves_a_machine_alone_that_no_longer_calls(rig: Rig) -> None:
    await rig.bench.deal(2)
    rig.attend()
    await asyncio.sleep(1)
    rig.panel.set_lamps(Lamps(red=LampMode.ON))
    await asyncio.sleep(0.5)
    rig.panel.set_lamps(Lamps(green=LampMode.ON))
    await asyncio.sleep(30)
    assert len(rig.world.hopper) == 7
    assert rig.starts() == 0


async def test_the_attendant_presses_start_again_and_then_gives_up(rig: Rig) -> None:
    rig.attend()
    await asyncio.sleep(1)
    rig.panel.set_lamps(Lamps(red=LampMode.ON))
    await asyncio.sleep(3.2)
    rig.panel.set_lamps(Lamps())
    await asyncio.sleep(60)
    assert rig.starts() == 3

"""The panel as players and attendants know it: buttons order and call, lamps tell."""

import pytest

from controller.machine.lamps import lamps
from controller.machine.play import Play
from controller.machine.state import TableState
from controller.messages import Phase, Role
from drivers.panel import Lamps, Light, PanelLost, PanelPins
from tests.machine.panel_contacts import at_panel
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual


async def test_the_start_button_begins_a_deal(table: Tables) -> None:
    async with table() as trial:
        contacts = await at_panel(trial)
        await trial.phase(Phase.EMPTY)
        await contacts.tap("start")
        committed = await trial.phase(Phase.COMMITTED)
        assert committed.machine.deal == 1
        contacts.close()


async def test_a_red_button_calls_the_referee_until_the_seat_presses_green(table: Tables) -> None:
    async with table() as trial:
        contacts = await at_panel(trial)
        await trial.phase(Phase.EMPTY)
        await contacts.tap("south_red")
        await contacts.tap("south_red")
        called = await trial.until(lambda state: bool(state.calls))
        assert [call.seat for call in called.calls] == ["S"]
        await contacts.tap("east_green")
        assert [call.seat for call in trial.machine.record.state.calls] == ["S"]
        await contacts.tap("south_green")
        await trial.until(lambda state: not state.calls)
        contacts.close()


async def test_the_estop_seen_by_the_panel_ends_the_attempt(table: Tables) -> None:
    async with table() as trial:
        contacts = await at_panel(trial)
        await trial.phase(Phase.EMPTY)
        await trial.order(Role.REFEREE, "start_deal")
        await trial.order(Role.TABLE, "cut", n=40)
        await trial.until(lambda state: state.machine.fed >= 10)
        trial.sim.world.set_estop(True)
        ended = await trial.until(lambda state: state.fairness[-1].outcome is not None)
        assert ended.fairness[-1].reasons == ["ESTOP_PRESSED"]
        assert contacts.lamps["lamp_red"]
        contacts.close()


async def test_a_table_without_its_panel_says_so_and_deals_on(table: Tables) -> None:
    async def broken() -> object:
        raise PanelLost("no such chip")

    async with table() as trial:
        await trial.machine.front.open(PanelPins(), broken)
        lost = await trial.until(lambda state: bool(state.alerts))
        assert [alert.name for alert in lost.alerts] == ["PANEL_LOST"]
        held = await trial.deal()
        assert held.machine.phase is Phase.HELD


@pytest.mark.parametrize(
    ("phase", "shown"),
    [
        (Phase.FAULT, Lamps(red=Light.ON)),
        (Phase.EMPTY, Lamps(green=Light.ON)),
        (Phase.COMMITTED, Lamps(amber=Light.ON)),
        (Phase.DEALING, Lamps(green=Light.BLINK)),
        (Phase.HELD, Lamps(green=Light.ON)),
    ],
)
async def test_each_phase_has_its_light(phase: Phase, shown: Lamps) -> None:
    assert lamps(TableState(), Play(), phase) == shown

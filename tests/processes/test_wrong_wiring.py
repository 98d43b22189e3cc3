"""Boards that are absent, in each other's place, or not what the configuration says."""

from controller.messages import MachinePhase, PublicState, Role
from sim.tables.table_processes import TableProcess
from tests.processes.people import People
from tests.processes.wiring import exchange, port_of


async def faulty(people: People) -> PublicState:
    """Wait for the fault: the daemon lives, and takes no order that would move a card."""
    state = await people.until(lambda state: bool(state.alerts))
    assert state.machine.phase is MachinePhase.FAULT
    refused = await people.order(Role.REFEREE, "start_deal")
    assert refused.error is not None
    assert refused.error.code == "WRONG_PHASE"
    assert (await people.table.control.request("truth"))["arrived"] == 0
    assert people.table.daemon is not None
    assert people.table.daemon.returncode is None
    return state


async def deals(people: People) -> None:
    """The faults are gone, and the table deals."""
    held = await people.held()
    assert held.alerts == []
    assert await people.pockets() == [27, 27, 27, 27, 0]


async def test_a_missing_port_is_named_and_used_as_soon_as_it_is_there(
    boards: TableProcess,
) -> None:
    port = await port_of(boards, "dealer")
    unplugged = port.rename(port.with_suffix(".unplugged"))
    await boards.start_daemon()
    async with People(boards) as people:
        (alert,) = (await faulty(people)).alerts
        assert alert.name == "PORT_MISSING"
        assert f"The port of the dealer board is not there: {port}" in alert.cause
        unplugged.rename(port)
        await deals(people)


async def test_boards_in_each_others_place_are_named_and_deal_once_exchanged(
    boards: TableProcess,
) -> None:
    await exchange(boards)
    await boards.start_daemon()
    async with People(boards) as people:
        names = {alert.name for alert in (await faulty(people)).alerts}
        assert names == {"BOARDS_SWAPPED"}
        await exchange(boards)
        await deals(people)


async def test_simulated_boards_where_real_ones_are_configured_are_not_used(
    boards: TableProcess,
) -> None:
    right = boards.config.read_text()
    boards.config.write_text(right.replace('backend = "sim"', 'backend = "serial"'))
    await boards.start_daemon()
    async with People(boards) as people:
        state = await faulty(people)
        assert {alert.name for alert in state.alerts} == {"BACKEND_MISMATCH"}
        assert all("Correct backend in the configuration" in one.action for one in state.alerts)
    await boards.stop_daemon()

    boards.config.write_text(right)
    await boards.start_daemon()
    async with People(boards) as people:
        await deals(people)

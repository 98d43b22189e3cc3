"""Boards that die in mid-deal, and come back."""

import os
import signal

from controller.messages import AttemptOutcome, MachinePhase, PublicState
from sim.tables.table_processes import TableProcess
from tests.processes.people import FAST, People
from tests.processes.processes import children

BOARDS = {"dealer": "发牌", "reader": "识牌"}


def daemon_pids(table: TableProcess) -> list[int]:
    assert table.daemon is not None
    assert table.daemon.returncode is None
    return [table.daemon.pid, *sorted(children(table.daemon.pid).values())]


def names_both(state: PublicState) -> bool:
    return all(any(f"{board} board" in alert.cause for alert in state.alerts) for board in BOARDS)


async def test_boards_killed_in_mid_deal_void_it_are_named_and_deal_again_once_they_are_back(
    table: TableProcess, people: People
) -> None:
    daemon = daemon_pids(table)
    await people.deal_to_card()
    info = await table.control.request("info")
    for board in BOARDS:
        os.kill(info["boards"][board]["pid"], signal.SIGKILL)

    lost = await people.until(names_both)
    assert lost.machine.phase is MachinePhase.FAULT
    assert lost.fairness[-1].outcome is AttemptOutcome.VOID
    for alert in lost.alerts:
        assert alert.action
        assert alert.action_zh
    for board, chinese in BOARDS.items():
        (alert,) = [one for one in lost.alerts if f"{board} board" in one.cause]
        assert f"{chinese}控制板" in alert.cause_zh
    assert daemon_pids(table) == daemon

    await table.control.request("speed", value=FAST)
    for board in BOARDS:
        await table.control.request("restart", board=board)
    await table.control.request("collect")
    again = await people.held()
    assert (again.machine.deal, again.machine.attempt) == (1, 2)
    assert again.fairness[-1].outcome is AttemptOutcome.OK
    assert again.alerts == []
    assert await people.pockets() == [27, 27, 27, 27, 0]
    assert daemon_pids(table) == daemon

"""Random faults of the real processes and serial lines of a table."""

import asyncio
import os
import random
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sim.hardware_in_process import BOARDS
from sim.tables.table_processes import HallError, HallPlan, TableProcess, start_program
from tests.processes.people import FAST
from tests.processes.processes import children

CARDS = 108
DURATIONS_MS = (20, 200, 600, 2500)
REPEATS = 4
"""How many writes on a line may be disturbed at a time."""


async def start_relay_simulator(
    plan: HallPlan, config: Path, runtime_dir: Path
) -> asyncio.subprocess.Process:
    """Start a simulator whose boards are processes and whose serial lines it can disturb."""
    return await start_program(
        "sim",
        *("--config", str(config), "--json", "--no-attendant", "--runtime-dir", str(runtime_dir)),
        *("--relay", "--boards", "processes", "--speed", str(plan.speed)),
        stdout=asyncio.subprocess.PIPE,
    )


class Disturbances:
    """Disturbs a running table at random moments. `struck` names each disturbance, in order.

    Each disturbance ends by itself. A stopped process continues, a killed one is started again,
    and a cable that was pulled out is put in.
    """

    def __init__(self, table: TableProcess, chance: random.Random) -> None:
        self.table, self.chance = table, chance
        self.struck: list[str] = []

    async def strike(self) -> None:
        """Wait for a random moment of this deal or of the next one, then disturb the table."""
        name = self.chance.choice(sorted(DISTURBANCES))
        card = self.chance.choice((0, self.chance.randint(0, CARDS), CARDS))
        await self._wait(card=card, after_ms=self.chance.uniform(0, 8000))
        self.struck.append(f"{name} behind card {card}")
        with suppress(ProcessLookupError):  # another disturbance has just killed that process
            await DISTURBANCES[name](self)

    async def keep_running(self) -> None:
        """Start the daemon again after a while whenever it has ended, as its service does.

        The daemon also ends by itself if its parts are killed too often.
        """
        while True:
            assert self.table.daemon is not None
            await self.table.daemon.wait()
            await self._wait_a_while()
            with suppress(HallError):  # another disturbance ended it while it started
                await self.table.start_daemon()

    async def signal_part(self, name: str, sign: signal.Signals) -> None:
        """Kill the machine or the gateway, or stop it for a while; the daemon restarts it."""
        assert self.table.daemon is not None
        for words, pid in children(self.table.daemon.pid).items():
            if f"run {name}" in words:
                await self._signal(pid, sign)

    async def signal_daemon(self, sign: signal.Signals) -> None:
        """End the whole daemon with a signal."""
        assert self.table.daemon is not None
        self.table.daemon.send_signal(sign)

    async def stop_board(self) -> None:
        """Stop the process of a board for a while."""
        boards = (await self.table.control.request("info"))["boards"]
        if pid := boards[self.chance.choice(BOARDS)]["pid"]:
            await self._signal(pid, signal.SIGSTOP)

    async def kill_board(self) -> None:
        """Kill the process of a board, and start it again after a while."""
        board = self.chance.choice(BOARDS)
        await self.table.control.request("kill", board=board)
        await self._wait_a_while()
        await self.table.control.request("restart", board=board)

    async def fault_board(self, name: str) -> None:
        """Let a fault of the simulator's menu strike one of the boards."""
        words = {} if name == "board_reset" else {"for_ms": self._while_ms()}
        board = self.chance.choice(BOARDS)
        await self.table.control.request("fault", name=name, board=board, **words)

    async def fault_bytes(self, name: str) -> None:
        """Disturb some of the next writes on one line, in one direction."""
        words = {"board": self.chance.choice(BOARDS), "way": self.chance.choice(WAYS)}
        delay = {"ms": self.chance.uniform(20, 400)} if name == "bytes_delayed" else {}
        for _ in range(self.chance.randint(1, REPEATS)):
            await self.table.control.request("fault", name=name, **words, **delay)

    async def open_lid(self) -> None:
        """Open the lid for a while."""
        await self.table.control.request("fault", name="lid", for_ms=self._while_ms())

    async def cross_cables(self) -> None:
        """Exchange the cables of the two boards for a while."""
        await self.table.control.request("cross")
        await self._wait_a_while()
        await self.table.control.request("cross")

    async def _signal(self, pid: int, sign: signal.Signals) -> None:
        os.kill(pid, sign)
        if sign is signal.SIGSTOP:
            try:
                await self._wait_a_while()
            finally:
                os.kill(pid, signal.SIGCONT)

    async def _wait_a_while(self) -> None:
        await self._wait(after_ms=self._while_ms() * FAST)  # the simulator's clock is faster

    def _while_ms(self) -> float:
        """Return a random duration in milliseconds, at most 2.5 seconds and often much less."""
        return self.chance.choice(DURATIONS_MS) * self.chance.random()

    async def _wait(self, **step: float) -> None:
        with suppress(HallError):  # the simulator ends at the end of the test
            await self.table.control.request("script", steps=[step])


WAYS = ("to_board", "to_host")
DISTURBANCES: dict[str, Callable[[Disturbances], Awaitable[None]]] = {
    "machine killed": lambda at: at.signal_part("machine", signal.SIGKILL),
    "machine stopped": lambda at: at.signal_part("machine", signal.SIGSTOP),
    "gateway killed": lambda at: at.signal_part("gateway", signal.SIGKILL),
    "gateway stopped": lambda at: at.signal_part("gateway", signal.SIGSTOP),
    "daemon killed": lambda at: at.signal_daemon(signal.SIGKILL),
    "daemon ended": lambda at: at.signal_daemon(signal.SIGTERM),
    "board killed": Disturbances.kill_board,
    "board stopped": Disturbances.stop_board,
    "board reset": lambda at: at.fault_board("board_reset"),
    "board silent": lambda at: at.fault_board("board_silent"),
    "foreign board": lambda at: at.fault_board("foreign_board"),
    "foreign firmware": lambda at: at.fault_board("foreign_firmware"),
    "unplugged": lambda at: at.fault_board("unplugged"),
    "cables crossed": Disturbances.cross_cables,
    "bytes dropped": lambda at: at.fault_bytes("bytes_dropped"),
    "bytes repeated": lambda at: at.fault_bytes("bytes_repeated"),
    "bytes corrupted": lambda at: at.fault_bytes("bytes_corrupted"),
    "bytes delayed": lambda at: at.fault_bytes("bytes_delayed"),
    "lid opened": Disturbances.open_lid,
}

"""Supervision of a table's two processes: the machine starts first, both end together."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from controller.host.loggers import structlog
from controller.host.users import User
from controller.service.process_signals import make_parent_death_hook, termination_signals

READY_LINE = b"ready\n"
"""Line that the machine writes to its standard output when the gateway may start."""

MAX_RESTARTS, RESTART_WINDOW_S = 5, 60.0
"""The daemon gives up after more restarts than this, within this many seconds (provisional)."""
# The machine is not imported here, so that two waiting processes do not load its code.
_log = structlog.get_logger("run")


async def supervise_table(
    path: Path, record: Path | None = None, users: Mapping[str, User] | None = None
) -> int:
    """Run a table's two processes until a termination signal arrives or one process ends by itself,
    and return the exit status.

    The exit status is 0 after a signal, otherwise at least 1. `record` is the file for a
    recording of the machine's serial lines, or None. `users` contains the users for the machine and
    the gateway; only root can set them. Each process runs as its user from its first instruction.
    With None both run as the user of this process.

    The gateway starts when the machine holds the journal, so that a second daemon of a running
    table changes nothing. A process that SIGKILL ended is started again while the other one keeps
    running. A new machine resumes the work. After too many restarts both processes end.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in termination_signals():
        loop.add_signal_handler(number, stop.set)
    stopping = asyncio.ensure_future(stop.wait())
    start = partial(_start_child, users or {}, path, record)
    parts = {"machine": await start("machine")}
    ends = [asyncio.ensure_future(parts["machine"].wait())]
    if await _wait_until_ready(parts["machine"], stopping):
        parts["gateway"] = await start("gateway")
        ends.append(asyncio.ensure_future(parts["gateway"].wait()))
    killed: list[float] = []
    while True:
        anything: list[asyncio.Future[Any]] = [*ends, stopping]
        await asyncio.wait(anything, return_when=asyncio.FIRST_COMPLETED)
        fallen = {part: child for part, child in parts.items() if child.returncode is not None}
        killed = [at_s for at_s in killed if loop.time() - at_s < RESTART_WINDOW_S]
        killed += [loop.time()] * len(fallen)
        by_itself = any(child.returncode != -signal.SIGKILL for child in fallen.values())
        if stop.is_set() or by_itself or len(killed) > MAX_RESTARTS or len(parts) == 1:
            break
        for part in fallen:
            _log.error("a part of the table was killed and is started again", part=part)
            parts[part] = await start(part)
        ends = [asyncio.ensure_future(child.wait()) for child in parts.values()]
    asked = stop.is_set()
    # The gateway ends first, because it publishes the last messages.
    for child in reversed(parts.values()):
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
    statuses = await asyncio.gather(*(child.wait() for child in parts.values()))
    stopping.cancel()
    for end in ends:
        end.cancel()
    if asked:
        return 0
    # Otherwise the machine has reported itself why it did not start.
    if len(parts) > 1 or min(statuses) < 0:
        _log.error("a part of the table ended", statuses=statuses)
    return max(status if status > 0 else 1 for status in statuses)


async def _wait_until_ready(machine: asyncio.subprocess.Process, stop: asyncio.Future[Any]) -> bool:
    """Wait for the ready line of the machine, and return True if the machine has written it.

    Return False if the machine ends or `stop` is done before that.
    """
    assert machine.stdout is not None
    line = asyncio.ensure_future(machine.stdout.readline())
    either: set[asyncio.Future[Any]] = {line, stop}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    ready = line.done() and line.result() == READY_LINE
    line.cancel()
    return ready


async def _start_child(
    users: Mapping[str, User], path: Path, record: Path | None, process: str
) -> asyncio.subprocess.Process:
    user = users.get(process)
    words = ("--record", str(record)) if record is not None and process == "machine" else ()
    # The program of another user must not import code from the current folder.
    safe = () if user is None else ("-P",)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, *safe, "-m", "controller.cli", "run", process),
        *("--config", str(path), *words),
        stdout=asyncio.subprocess.PIPE if process == "machine" else None,
        user=None if user is None else user.uid,
        group=None if user is None else user.gid,
        extra_groups=None if user is None else user.groups,
        process_group=0,  # signals of the terminal (Ctrl-C, hang-up) are handled by this process
        # If this process is killed, so are its children. A change of user resets that.
        preexec_fn=make_parent_death_hook(signal.SIGKILL),
    )

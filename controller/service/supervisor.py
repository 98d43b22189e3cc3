"""A table's two processes, as one: the machine first, then its gateway; both end together."""

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
"""What the machine writes to its standard output once the gateway may come."""

MAX_RESTARTS, RESTART_WINDOW_S = 5, 60.0
"""How often parts may be killed within so many seconds before the daemon gives up (provisional)."""
# The machine itself is not imported: two processes that sleep need not carry it, too.
_log = structlog.get_logger("run")


async def supervise_table(
    path: Path, record: Path | None = None, users: Mapping[str, User] | None = None
) -> int:
    """Run both until a signal or until one ends by itself; return the exit status of both.

    `record` is where the machine records its serial lines, if it does. `users` has whom the
    machine and the gateway become, and only root has one: each is its user from its first
    instruction on, whenever it is started. None: both stay who this process is.

    The gateway comes once the machine has the journal, so that a second daemon of a
    table that is alive touches nothing of it. A part that is killed is started again: the
    other one lives on, and the machine goes on where it stood.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in termination_signals():
        loop.add_signal_handler(number, stop.set)
    stopping = asyncio.ensure_future(stop.wait())
    words = {
        "machine": () if record is None else ("--record", str(record)),
        "gateway": (),
    }
    start = partial(_start_child, users or {}, path)
    parts = {"machine": await start("machine", *words["machine"])}
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
            parts[part] = await start(part, *words[part])
        ends = [asyncio.ensure_future(child.wait()) for child in parts.values()]
    asked = stop.is_set()
    for child in reversed(parts.values()):  # the gateway first: it tells of the last words
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
    statuses = await asyncio.gather(*(child.wait() for child in parts.values()))
    stopping.cancel()
    for end in ends:
        end.cancel()
    if asked:
        return 0
    if len(parts) > 1 or min(statuses) < 0:  # else the machine has said itself why it did not begin
        _log.error("a part of the table ended", statuses=statuses)
    return max(status if status > 0 else 1 for status in statuses)


async def _wait_until_ready(machine: asyncio.subprocess.Process, stop: asyncio.Future[Any]) -> bool:
    """Wait for the machine's word; False where it ends, or is to end, without it."""
    assert machine.stdout is not None
    line = asyncio.ensure_future(machine.stdout.readline())
    either: set[asyncio.Future[Any]] = {line, stop}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    ready = line.done() and line.result() == READY_LINE
    line.cancel()
    return ready


async def _start_child(
    users: Mapping[str, User], path: Path, process: str, *words: str
) -> asyncio.subprocess.Process:
    user = users.get(process)
    # Another user's code must not come out of a folder where this one happens to be.
    safe = () if user is None else ("-P",)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, *safe, "-m", "controller.cli", "run", process),
        *("--config", str(path), *words),
        stdout=asyncio.subprocess.PIPE if process == "machine" else None,
        user=None if user is None else user.uid,
        group=None if user is None else user.gid,
        extra_groups=None if user is None else user.groups,
        process_group=0,  # what a terminal says, Ctrl-C or that it is gone, is ours to answer
        # A table that is killed is killed whole. The kernel forgets it when a user changes.
        preexec_fn=make_parent_death_hook(signal.SIGKILL),
    )

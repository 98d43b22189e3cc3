"""A table's two processes, as one: the machine first, then its gateway; both end together."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from functools import partial
from pathlib import Path

import structlog

from controller.cli.machine_process import SIGNALS

READY = b"ready\n"
"""What the machine writes to its standard output once the gateway may come."""

_PR_SET_PDEATHSIG = 1
_log = structlog.get_logger("run")


async def machine_and_gateway(path: Path) -> int:
    """Run both until a signal or until one ends; return the exit status of both.

    The gateway comes once the machine has the journal, so that a second daemon of a
    table that is alive touches nothing of it.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    children = [await _child("machine", path)]
    stopping = asyncio.ensure_future(stop.wait())
    assert children[0].stdout is not None
    ready = asyncio.ensure_future(children[0].stdout.readline())
    await asyncio.wait({ready, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if ready.done() and ready.result() == READY:
        children.append(await _child("gateway", path))
    ends = [asyncio.ensure_future(child.wait()) for child in children]
    await asyncio.wait([*ends, stopping], return_when=asyncio.FIRST_COMPLETED)
    asked = stop.is_set()
    for child in reversed(children):  # the gateway first: it tells of the machine's last words
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
    statuses = await asyncio.gather(*ends)
    for waiting in (ready, stopping):
        waiting.cancel()
    if asked:
        return 0
    _log.error("a part of the table ended", statuses=statuses)
    return max(status if status > 0 else 1 for status in statuses)


async def _child(part: str, path: Path) -> asyncio.subprocess.Process:
    libc, parent = ctypes.CDLL(None), os.getpid()
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controller.cli", "run", part, "--config", str(path)),
        stdout=asyncio.subprocess.PIPE if part == "machine" else None,
        preexec_fn=partial(_die_with, parent, libc),
    )


def _die_with(parent: int, libc: ctypes.CDLL) -> None:
    """In a new child: be killed when the parent is. A table that is killed is killed whole."""
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)

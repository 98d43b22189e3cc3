"""People who play a match at an overheard table, and look into everything while they do.

They look whenever they are about to do something, so that nothing is on its way to being public
meanwhile; the gateway's memory also while cards are dealt, a few times a second.
"""

import asyncio
import json
import os
import signal
import sys
import tarfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec

from controller.client.client import Client, NoAnswer
from controller.client.discovery import ENDPOINTS_FILE
from controller.journal.entries import JournalError, decode
from controller.journal.store import STORE_NAME, open_read_only
from controller.messages import CommandReply, MachinePhase, PublicState, Role, Seat
from tests.matches.at_hall import AtHall
from tests.peek.memory import Memory
from tests.peek.overheard import OverheardTable

MEMORY = "the gateway's memory"
FILES = "the state directory"
JOURNAL = "the journal's file"
RUNTIME = "the runtime directory"
LOGS = "logs"
METRICS = "metrics"
BUNDLE = "a bundle"
SHEETS = "score sheets"
SCREENS = "dealtable watch"
ENDPOINTS = "endpoints.json"

_MID_DEAL = 80
GLANCES = 4
"""How often memory is looked at while cards are dealt, each time after other news."""
PACE, SLOW = 12.0, 0.7
"""Speeds of the mechanics: usually, and from a deal's second card until it was looked at."""
_MOST_DEALS = 60
_LOOKED_AT = ("dealing", "held", "count_check", "tribute", "return", "play")
_EVERY_ROLE = (Role.OBSERVER, Role.TABLE, Role.REFEREE, Role.CHIEF, Role.TECHNICIAN) * 2
_OVERLAP = _PAGE = 4096

Rows = frozenset[tuple[str, int]]


@dataclass
class Seen:
    """What an onlooker knows of an attempt: cards by their faces, as the simulator has them."""

    hopper: tuple[int, ...] = ()
    pockets: tuple[tuple[int, ...], ...] = ()
    key: bytes = b""
    level: str = ""


@dataclass
class Plan:
    """In which deal what is done beside playing, if it is. `by`: what the machine dies of."""

    bundle: int | None = None
    killed: int | None = None
    by: signal.Signals = signal.SIGABRT
    hand_opened: int | None = None


@dataclass
class Onlooker(AtHall):
    """People at the table, for the block, who also look into places. `truths` by attempt."""

    table: OverheardTable
    folder: Path
    plan: Plan
    truths: dict[int, Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin without having seen anything."""
        super().__init__(self.table)
        self.evidence = self.table.evidence
        self.memory = Memory(self.table.parts["gateway"].pid)
        # What is there before the first seed is drawn can be of no deal.
        self.before = tuple(self.memory.new())
        self._looked: set[tuple[int | None, str, str]] = set()
        self._done: set[str] = set()
        self._read: dict[Path, int] = {}

    async def __aenter__(self) -> Self:
        slower = {"card": 2, "do": "speed", "with": {"value": SLOW}}
        steps = [slower, *({"fillings": 1, **slower} for _ in range(_MOST_DEALS))]
        self._slowing = asyncio.ensure_future(self.table.control.request("script", steps=steps))
        return await super().__aenter__()

    async def __aexit__(self, *why: object) -> None:
        self._slowing.cancel()
        await asyncio.gather(self._slowing, return_exceptions=True)
        await super().__aexit__(*why)

    async def later(self, limit_s: float | None = None) -> None:
        """Wait for something of the feed, having looked."""
        await self.peek()
        await super().later(limit_s)

    async def ask(
        self, role: Role, cmd: str, about: tuple[int | None, int | None], args: dict[str, Any]
    ) -> CommandReply:
        """Look, then give a command."""
        await self.peek()
        return await super().ask(role, cmd, about, args)

    async def press(self, seat: Seat) -> None:
        """Look, then tap a button."""
        await self.peek()
        await super().press(seat)

    async def hold(self, seat: Seat) -> None:
        """Look, then hold a button."""
        await self.peek()
        await super().hold(seat)

    async def hands(self, deed: str, *args: str) -> None:
        """Look, then do something with the cards."""
        await self.peek()
        await super().hands(deed, *args)

    async def peek(self) -> None:
        """Look at whatever is worth it at this moment."""
        if not self.states:
            return
        state = self.states[-1]
        machine, match = state.machine, state.match
        where = (machine.attempt, machine.phase.value, match.phase)
        if where in self._looked or match.phase not in _LOOKED_AT:
            return
        if machine.phase is MachinePhase.DEALING and not 2 <= machine.fed < _MID_DEAL:
            return
        self._looked.add(where)
        await self.look(state)

    def glance(self) -> None:
        """Look into the gateway's memory."""
        for pages in self.memory.new():
            name = f"sample {self.memory.samples}"
            self.evidence.add(MEMORY, name, pages)
            self.evidence.add(MEMORY, f"{name}, lists", self.memory.lists(pages))

    async def look(self, state: PublicState) -> None:
        """Look into every place."""
        machine = state.machine
        await self._look_at_cards(state)
        self.glance()
        self.look_at_files()
        await self.scrape()
        await self.look_at_sheet()
        if machine.phase is MachinePhase.DEALING:
            await self._while_dealing(machine.deal or 0)
        if machine.phase is MachinePhase.HELD and machine.deal == self.plan.bundle:
            await self.bundle()
        if state.match.phase == "play" and state.match.led:
            await self._open_a_hand(state)

    async def _look_at_cards(self, state: PublicState) -> None:
        attempt, phase = state.machine.attempt or 0, state.machine.phase
        truth = await self.table.control.request("truth")
        seen = self.truths.setdefault(attempt, Seen())
        seen.level = state.match.level or seen.level
        fed = len(truth["hopper"]) < self.table.profile.deck.cards
        if phase is MachinePhase.DEALING and fed and not seen.hopper:
            seen.hopper = tuple(card["face"] for card in reversed(truth["hopper"]))
        if phase is MachinePhase.HELD:
            pockets = truth["pockets"][:4]
            seen.pockets = tuple(tuple(card["face"] for card in pocket) for pocket in pockets)
        with suppress(OSError):
            seen.key = (self.table.runtime_dir / f"attempt-{attempt}.key").read_bytes()

    def look_at_files(self) -> None:
        """Look into both directories, whose key files alone are left out."""
        rows = self.rows()
        for path in sorted(self.table.state_dir.rglob("*")):
            if path.is_file():
                place = {ENDPOINTS_FILE: ENDPOINTS}.get(path.name, FILES)
                place = JOURNAL if path.name.startswith(STORE_NAME) else place
                place = LOGS if path.suffix == ".log" else place
                data = self._content(path, place)
                self.evidence.add(place, path.name, data, rows)
                if place == JOURNAL:
                    self.evidence.add(place, f"{path.name}, overflow", _overflowing(data), rows)
        found = sorted(self.table.runtime_dir.parent.rglob("*"))
        self.evidence.add(RUNTIME, "names", "\n".join(map(str, found)).encode())
        for path in found:
            if path.is_file() and not path.name.endswith(".key"):
                self.evidence.add(RUNTIME, path.name, path.read_bytes())
        for path in sorted(self.folder.glob("*.screen")):
            self.evidence.add(SCREENS, path.name, self._content(path, SCREENS))

    def _content(self, path: Path, place: str) -> bytes:
        """Return a file's bytes; of one that only grows, what is new."""
        begins = self._read.get(path, 0) if place in (LOGS, SCREENS) else 0
        with path.open("rb") as file:
            file.seek(max(0, begins - _OVERLAP))
            data = file.read()
            self._read[path] = file.tell()
        return data

    def rows(self) -> Rows:
        """Return kinds and attempts of the rows that the journal has.

        Each row is looked at by itself, too, for it may lie across pages of the file; to it, public
        is what it or a row before it makes so.
        """
        had: Rows = frozenset()
        with (
            suppress(OSError, JournalError),
            open_read_only(self.table.state_dir / STORE_NAME) as rows,
        ):
            for entry in (decode(row.body) for row in rows):
                had |= {(entry.kind, entry.attempt or 0)}
                self.evidence.add(JOURNAL, f"row {entry.n}", json.dumps(entry.data).encode(), had)
        return had

    async def scrape(self) -> None:
        """Ask for the metrics."""
        where = urlsplit(self.table.endpoints.metrics or "")
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        writer.write(f"GET {where.path} HTTP/1.0\r\n\r\n".encode())
        self.evidence.add(METRICS, "", await reader.read())
        writer.close()

    async def look_at_sheet(self) -> None:
        """Ask for the score sheet."""
        with suppress(NoAnswer):
            reply = await self._clients[Role.OBSERVER].ask("sheet")
            self.evidence.add(SHEETS, "its JSON", json.dumps(reply.result).encode())

    async def print_sheet(self) -> None:
        """Have the sheet printed as a referee does."""
        out = await _program("sheet", "--state-dir", str(self.table.state_dir))
        self.evidence.add(SHEETS, "as printed", out)

    async def _while_dealing(self, deal: int) -> None:
        for _ in range(GLANCES):
            self.glance()
            await super().later()
        if self.plan.bundle == deal and self._once("bundle"):
            await self.bundle()
        if self.plan.killed == deal and self._once("kill"):
            await self.table.end("machine", self.plan.by)
            self.look_at_files()
            await self.table.start("machine")
        await self.table.control.request("speed", value=PACE)

    async def bundle(self) -> None:
        """Have a diagnostics archive made, and look into it."""
        out = self.folder / "t.tar.gz"
        here = ("--state-dir", str(self.table.state_dir), "--out", str(out), "--replace")
        self.evidence.add(BUNDLE, "what it says", await _program("bundle", *here))
        rows = self.rows()
        self.evidence.add(BUNDLE, "the archive", out.read_bytes(), rows)
        with tarfile.open(out) as archive:
            for entry in archive:
                body = archive.extractfile(entry)
                if body is not None:
                    self.evidence.add(BUNDLE, entry.name, body.read(), rows)

    async def _open_a_hand(self, state: PublicState) -> None:
        if self.plan.hand_opened == state.match.deal and self._once("open"):
            about = (state.match.deal, state.match.attempt)
            said = {"seat": "N", "reason": "a count is doubted"}
            reply = await self._clients[Role.CHIEF].ask(
                "open_hand", said, deal=about[0], attempt=about[1]
            )
            assert reply.ok, reply.error

    def _once(self, what: str) -> bool:
        new = what not in self._done
        self._done.add(what)
        return new


@asynccontextmanager
async def audience(table: OverheardTable, folder: Path) -> AsyncIterator[None]:
    """Have two clients of every role listen and ask, and two programs watch, for the block."""
    clients = [table.client(role) for role in _EVERY_ROLE]

    tasks = [asyncio.ensure_future(_attend(client)) for client in clients]
    screens = []
    for name, words in (("lines", ()), ("json", ("--json",))):
        with (folder / f"{name}.screen").open("wb") as file:
            here = ("watch", *words, "--state-dir", str(table.state_dir))
            screens.append(await _started(here, stdout=file, stderr=file))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in clients:
            await client.close()
        for screen in screens:
            screen.terminate()  # not Ctrl-C, which means nothing behind a shell's `&`
            await screen.wait()


async def _attend(client: Client) -> None:
    """Listen, and ask for all that there is whenever the machine comes to another phase."""
    phase: MachinePhase | None = None
    async for heard in client.feed():
        if not heard.topic.startswith("state/"):
            continue
        before, phase = phase, msgspec.json.decode(heard.body, type=PublicState).machine.phase
        if phase is not before:
            with suppress(NoAnswer):
                for cmd, args in (("snapshot", {}), ("events", {"since": 0}), ("sheet", {})):
                    await client.ask(cmd, args)


def _overflowing(data: bytes) -> bytes:
    """Return the pages of a database file without the number of the page where a row goes on."""
    return b"".join(data[at + 4 : at + _PAGE] for at in range(0, len(data), _PAGE))


async def _started(words: Sequence[str], **options: Any) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller.cli", *words, env=os.environ | {}, **options
    )


async def _program(*words: str) -> bytes:
    pipe, out = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await _started(words, stdout=pipe, stderr=out)
    said, _ = await process.communicate()
    assert process.returncode == 0, said
    return said

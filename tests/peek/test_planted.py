"""The same scan finds whatever is planted, in every place and in every spelling."""

import base64
import json
import random
import signal
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from controller.client.client import ReceivedMessage
from sim.tables.table_processes import HallPlan
from tests.peek import hidden
from tests.peek import onlooker as at
from tests.peek.evidence import Evidence, search
from tests.peek.hidden import Hidden
from tests.peek.onlooker import Onlooker, Plan, Seen, audience
from tests.peek.overheard import (
    CLIENT,
    MACHINE_SOCKET,
    NETWORK,
    PINS,
    SECOND_GATEWAY,
    WRAPPED,
    OverheardTable,
    overheard,
)
from tests.peek.runs import a_run, patterns
from tests.peek.spellings import spellings
from tests.peek.truth import words_of
from tests.peek.wrapped import is_text
from tests.waiting import until

pytestmark = pytest.mark.slow

OF_MACHINE = {
    MACHINE_SOCKET: {MACHINE_SOCKET, SECOND_GATEWAY},
    PINS: {PINS},
    at.JOURNAL: {at.JOURNAL},
    "free pages": {at.JOURNAL},
    "rows": {at.JOURNAL},
    at.FILES: {at.FILES},
    at.RUNTIME: {at.RUNTIME},
    at.LOGS: {at.LOGS, at.BUNDLE},
    at.SHEETS: {at.SHEETS, CLIENT},
}
OF_GATEWAY = {
    CLIENT: {CLIENT, at.SCREENS},
    at.MEMORY: {at.MEMORY},
    "lists": {at.MEMORY},
    at.METRICS: {at.METRICS},
}
LAST_OF_MACHINE = {"repr": {at.LOGS}, "tracebacks": {at.LOGS}}
LAST_OF_GATEWAY = {at.ENDPOINTS: {at.ENDPOINTS}, NETWORK: {NETWORK}}
"""What the process, or its clients, do not survive."""
ALL = tuple(spellings())
NEEDS_TEXT = {"rows", at.SHEETS, "repr", "tracebacks"}
SPELLINGS = 12
"""How many spellings are in each place."""
END = b"the end of what was planted"
"""It comes behind everything else, once as text and once as none."""
SCREENS = ("lines.screen", "json.screen")
WITH_END = {MACHINE_SOCKET, PINS, CLIENT, NETWORK}
"""Places that hand on what is planted. The end shows when all of it has arrived."""


class Witness(Onlooker):
    """An onlooker who does not mind messages that are none."""

    def _take(self, heard: ReceivedMessage) -> None:
        with suppress(msgspec.MsgspecError):
            super()._take(heard)


class Planting:
    """Everything that is planted: texts by place, and what has to be found for it."""

    def __init__(self) -> None:
        self.texts: dict[str, list[bytes]] = defaultdict(list)
        self.hidden: list[Hidden] = []
        self.where: dict[str, set[str]] = {}
        self.spelled: set[str] = set()
        chance = random.Random("planted")
        routes = OF_MACHINE | OF_GATEWAY | LAST_OF_MACHINE | LAST_OF_GATEWAY
        for number, (place, found_in) in enumerate(routes.items()):
            for what, secret, text in _all_of(place, number, chance):
                name = f"{place}: {what}"
                self.hidden.append(Hidden(name, secret, is_text=what.startswith("word ")))
                self.texts[place].append(text)
                self.spelled |= set(what.partition(", ")[2].split("; "))
                # What is no JSON is nothing that `watch` shows.
                self.where[name] = found_in if is_text(text) else found_in - {at.SCREENS}

    def let_out(self, places: dict[str, set[str]], folder: Path) -> Path:
        """Write the file for a process; return it."""
        rows = [
            (place, [base64.b64encode(text).decode() for text in self._of(place)])
            for place in places
        ]
        path = folder / "plants.json"
        path.with_suffix(".done").unlink(missing_ok=True)
        path.write_text(json.dumps(rows))
        return path

    def _of(self, place: str) -> list[bytes]:
        return self.texts[place] + ([END, END + b"\0"] if place in WITH_END else [])


def _all_of(
    place: str, number: int, chance: random.Random
) -> Iterator[tuple[str, tuple[bytes, ...], bytes]]:
    """Yield a name, the patterns and the text of all that is planted in a place."""
    if place == "lists":
        for kind in ("cards", "letters", "numbers", "key"):
            run = a_run(kind, chance)
            written = bytes(b"NWSE"[to] for to in run) if kind == "letters" else bytes(run)
            yield f"list of {kind}", patterns(kind, run), written
        return
    runs = [(each, a_run(each.kind, chance)) for each in ALL]
    here = [
        (each, run, text)
        for each, run in runs
        for text in [each.write(run)]
        if place not in NEEDS_TEXT or is_text(text)
    ]
    chance.shuffle(here)
    for each, run, text in here[:SPELLINGS]:
        yield f"{each.kind}, {each.name}", patterns(each.kind, run), text
    face, seat = number * 3 % 52, hidden.POCKETS[number % 4]
    pockets = tuple((face,) if seat == each else () for each in hidden.POCKETS)
    for word in words_of(seat, face % 13 + 2, Seen(pockets=pockets, level="A")):
        coding = "utf-16-le" if place == at.MEMORY else "utf-8"
        said = f"the tribute is due, {word.decode()} is what it is"
        yield f"word {word.decode()}", (word,), said.encode(coding)


async def planted(table: OverheardTable, part: str, file: Path, rows: int) -> None:
    """Have a part let out what stands in the file, and wait until it has."""
    table.parts[part].send_signal(signal.SIGUSR1)
    done = file.with_suffix(".done")

    def is_out() -> bool:
        assert table.parts[part].returncode is None
        return done.exists() and len(done.read_text().splitlines()) == rows

    await until(is_out)


async def arrived(evidence: Evidence, place: str) -> None:
    """Wait until the end of what was planted was seen in a place."""
    for end in (END, END + b"\0"):
        await until(
            lambda end=end: any(  # type: ignore[misc]  # a default binds the loop's variable
                end in exhibit.data for exhibit in evidence.exhibits if exhibit.place == place
            )
        )


async def test_whatever_is_planted_is_found_in_every_place_and_every_spelling(
    tmp_path: Path,
) -> None:
    planting, evidence = Planting(), Evidence()
    folder = tmp_path / "seen"
    folder.mkdir()
    plan = HallPlan(tmp_path / "state")
    files = {"PEEK_PLANTS": str(tmp_path / "plants.json")}
    async with overheard(plan, evidence, WRAPPED) as table:
        await table.start("machine", **files)
        await table.start("gateway", **files)
        async with audience(table, folder), Witness(table, folder, Plan()) as people:
            await people.later()
            for screen in SCREENS:  # a program that begins later would not see what is planted
                await until(lambda file=folder / screen: file.read_bytes())  # type: ignore[misc]
            for part, routes in (("machine", OF_MACHINE), ("gateway", OF_GATEWAY)):
                file = planting.let_out(routes, tmp_path)
                await planted(table, part, file, len(routes))
            for place in (MACHINE_SOCKET, SECOND_GATEWAY, PINS, CLIENT):
                await arrived(evidence, place)
            await until(lambda: END in (folder / "json.screen").read_bytes())
            people.glance()
            people.look_at_files()
            await people.scrape()
            await people.bundle()
            await people.look_at_sheet()
            file = planting.let_out(LAST_OF_GATEWAY, tmp_path)
            await planted(table, "gateway", file, len(LAST_OF_GATEWAY))
            await arrived(evidence, NETWORK)
            planting.let_out(LAST_OF_MACHINE, tmp_path)
            await table.end("machine", signal.SIGUSR1)
            people.look_at_files()
    found = {(find.place, find.what) for find in search(evidence, planting.hidden)}
    missed = {(place, what) for what, places in planting.where.items() for place in places} - found
    assert sorted(missed) == []
    assert planting.spelled >= {part for each in ALL for part in each.name.split("; ")}

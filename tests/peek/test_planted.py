"""The same scan finds whatever is planted, in every place and in every spelling."""

import asyncio
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

from controller.client.client import Heard
from controller.trials.hall import HallPlan
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
    OverheardTable,
    overheard,
)
from tests.peek.spellings import spellings
from tests.peek.test_peek import WRAPPED
from tests.peek.test_reading import a_run, patterns
from tests.peek.truth import words_of
from tests.peek.wrapped import is_text

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
NEEDS_TEXT = {"rows", at.SHEETS, "repr", "tracebacks"}
PATIENCE_S = 60.0


class Witness(Onlooker):
    """An onlooker who does not mind messages that are none."""

    def _take(self, heard: Heard) -> None:
        with suppress(msgspec.MsgspecError):
            super()._take(heard)


class Planting:
    """Everything that is planted: texts by place, and what has to be found for it."""

    def __init__(self) -> None:
        self.texts: dict[str, list[bytes]] = defaultdict(list)
        self.hidden: list[Hidden] = []
        self.where: dict[str, set[str]] = {}
        chance = random.Random("planted")
        routes = OF_MACHINE | OF_GATEWAY | LAST_OF_MACHINE | LAST_OF_GATEWAY
        for number, (place, found_in) in enumerate(routes.items()):
            for what, secret, text in _all_of(place, number, chance):
                name = f"{place}: {what}"
                self.hidden.append(Hidden(name, secret))
                self.texts[place].append(text)
                # What is no JSON is nothing that `watch` shows.
                self.where[name] = found_in if is_text(text) else found_in - {at.SCREENS}

    def let_out(self, places: dict[str, set[str]], folder: Path) -> Path:
        """Write the file for a process; return it."""
        rows = [
            (place, [base64.b64encode(text).decode() for text in self.texts[place]])
            for place in places
        ]
        path = folder / "plants.json"
        path.with_suffix(".done").unlink(missing_ok=True)
        path.write_text(json.dumps(rows))
        return path


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
    for each in spellings():
        run = a_run(each.kind, chance)
        text = each.write(run)
        if place not in NEEDS_TEXT or is_text(text):
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
    async with asyncio.timeout(PATIENCE_S):
        while not done.exists() or len(done.read_text().splitlines()) < rows:
            assert table.parts[part].returncode is None
            await asyncio.sleep(0.02)


@pytest.mark.timeout(300)
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
            await people.later(PATIENCE_S)
            for part, routes in (("machine", OF_MACHINE), ("gateway", OF_GATEWAY)):
                file = planting.let_out(routes, tmp_path)
                await planted(table, part, file, len(routes))
            await asyncio.sleep(1.0)  # for all relays and programs to hand it on
            people.glance()
            people.look_at_files()
            await people.scrape()
            await people.bundle()
            await people.look_at_sheet()
            file = planting.let_out(LAST_OF_GATEWAY, tmp_path)
            await planted(table, "gateway", file, len(LAST_OF_GATEWAY))
            planting.let_out(LAST_OF_MACHINE, tmp_path)
            table.parts["machine"].send_signal(signal.SIGUSR1)
            async with asyncio.timeout(PATIENCE_S):
                await table.parts["machine"].wait()
            await asyncio.sleep(0.5)
            people.look_at_files()
    found = {(find.place, find.what) for find in search(evidence, planting.hidden)}
    missed = {(place, what) for what, places in planting.where.items() for place in places} - found
    assert sorted(missed) == []
    assert len(planting.where) > 10_000

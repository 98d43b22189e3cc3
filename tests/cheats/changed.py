"""A cheat as a value: what of the machine is changed, who gains what, and how it comes out.

A changed machine is the product's own with one part exchanged for a subclass of it. It deals real
cards by the real firmware, chains its journal as it should be, and publishes its own feed.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.journal.entries import JournalEntry
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.machine.state.state_fold import fold_state
from controller.machine.table_record import TableRecord
from controller.messages import MachinePhase, PublicEvent, PublicState
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process

BOOK = "controller.machine.attempts.deal_cycle.AttemptWriter"
BOOK_READ_AGAIN = "controller.machine.attempts.recovery.AttemptWriter"
"""The same part, where the machine takes it up again: for hands that are opened later."""
RUN = "controller.machine.attempts.deal_cycle.AttemptRun"
DEALING = "controller.machine.attempts.attempt_run.CardLoop"
RECORD = "controller.machine.machine.TableRecord"
WIRE_LOG = "controller.machine.machine.BoardLog"
COUNTER = "controller.machine.machine.CutCounter"
VAULT = "controller.machine.attempts.attempt_writer.Vault"
HANDS_KEPT = "controller.machine.attempts.deal_cycle.UnopenedHands"
TABLE = "controller.machine.machine.TableBoards"
OPENED_HANDS = "controller.machine.machine.OpenedHands"
HANDS_OUT = "controller.machine.boards.table_boards.HandsWithPlayers"

VICTIM = 2
"""The attempt that is cheated in, where the cheat says nothing else."""


class Evening(msgspec.Struct, frozen=True, kw_only=True):
    """What people do at a table, the faults of its set (sim's menu), and how it is laid out."""

    name: str
    people: Callable[[TableInProcess], Awaitable[None]]
    faults: tuple[str, ...] = ()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Cheat(msgspec.Struct, frozen=True, kw_only=True):
    """One dishonest machine.

    `gains`: one sentence about what the cheater gains. `parts`: what stands in place of which
    part of the machine, by the name under which it is looked up. `found`: words of the finding
    in its journal; `on_feed`: in what a console kept of its feed. Null where nothing is to be
    seen, and then `unseen` says why.
    """

    name: str
    gains: str
    parts: Mapping[str, Any]
    evening: Evening
    found: str | None
    on_feed: str | None
    unseen: str = ""

    def __str__(self) -> str:
        """Name the test."""
        return self.name


class Traces(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of an evening: the journal's folder, and what a console kept of the feed."""

    state_dir: Path
    events: list[PublicEvent]
    states: list[PublicState]

    def journal(self, heads: Path | None = None) -> VerifyReport:
        """Return what `verify` says of the journal."""
        return verify(self.state_dir, heads)

    def feed(self) -> VerifyReport:
        """Return what `verify` says of what the console kept: its states and events."""
        log = self.state_dir / "kept.jsonl"
        return verify(keep(log, self.states, self.events))


def keep(log: Path, states: list[PublicState], events: list[PublicEvent]) -> Path:
    """Write what a console kept, as `dealtable watch --json` prints it; return the file."""
    log.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in [*states, *events]))
    return log


async def spend(
    evening: Evening,
    parts: Mapping[str, Any],
    folder: Path,
    runtime_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Traces:
    """Let people spend an evening at a machine with these parts exchanged."""
    again = {BOOK_READ_AGAIN: parts[BOOK]} if BOOK in parts else {}
    for place, part in {**parts, **again}.items():
        monkeypatch.setattr(place, part)
    settings = MechanicsSettings(faults=tuple(map(parse_fault, evening.faults)))
    table: AbstractAsyncContextManager[TableInProcess] = run_table_in_process(
        settings, runtime_dir, store=JournalStore.open(folder), state_dir=folder, **evening.options
    )
    async with table as at:
        await evening.people(at)
        return Traces(state_dir=folder, events=at.events, states=at.states)


def said(report: VerifyReport) -> str:
    """Return all findings of a report as text."""
    return " | ".join(map(str, report.findings))


def whisper(record: TableRecord, kind: str, data: dict[str, Any], deal: int, attempt: int) -> None:
    """Let screens and orders take a step that the journal does not hold."""
    entry = JournalEntry(
        n=record.journal.last_number,
        time="",
        boot="",
        kind=kind,
        public=True,
        deal=deal,
        attempt=attempt,
        data=data,
    )
    record.state = fold_state(record.state, entry)


def pretend(record: TableRecord, phase: MachinePhase) -> None:
    """Let screens and orders take the machine to be in another phase than it is."""
    record.state = msgspec.structs.replace(record.state, phase=phase)

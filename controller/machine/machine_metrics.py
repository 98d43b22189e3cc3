"""The metrics of one machine: counts of entries and events, durations, CPU and memory."""

import asyncio
import os
import resource
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from controller.gateway_protocol import Histogram, MetricSample, MetricsMessage
from controller.journal.committer import CommitCallback, Committer, RowsCommitted, WriteGroup
from controller.journal.entries import JournalEntry, StorageFailed
from controller.machine.boards.board_log import BoardLog
from controller.messages import AttemptOutcome
from drivers.board_events import (
    BoardEvent,
    BoardEventCode,
    BoardKind,
    CardReadEvent,
    DealerMotor,
    JamPlace,
    Outlet,
)
from drivers.link import frames
from drivers.link.link import Link

_STAT, _STATM, _KERNEL_STAT = Path("/proc/self/stat"), Path("/proc/self/statm"), Path("/proc/stat")
_START_TICKS_FIELD = 19
"""Index of a process's start time in its stat file, counted after the bracket that ends its name.
"""


def process_samples() -> list[MetricSample]:
    """Return the start time, the CPU seconds and the memory of this process as metrics.

    The start time is in seconds of Unix time.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(_STATM.read_text().split()[1])
    return [
        MetricSample("machine_start_time_seconds", (), _start_time_s()),
        MetricSample("machine_cpu_seconds", (), used.ru_utime + used.ru_stime),
        MetricSample("machine_resident_memory_bytes", (), pages * resource.getpagesize()),
    ]


def _start_time_s() -> float:
    ticks = int(_STAT.read_text().rpartition(")")[2].split()[_START_TICKS_FIELD])
    lines = _KERNEL_STAT.read_text().splitlines()
    boot_s = next(int(line.split()[1]) for line in lines if line.startswith("btime"))
    return boot_s + ticks / os.sysconf("SC_CLK_TCK")


ROUTE_BOUNDS_S = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05)
"""From the time of an answer in the read callback, tens of microseconds, to a stalled host."""
JOURNAL_BOUNDS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
"""From a fast disk to a worn card that stops for seconds."""
LAG_BOUNDS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5)

_MAX_JUDGED = 16
"""Attempts whose verdict is stored for late events."""


class TimedCommitter:
    """A committer that measures how long each group of rows waits until it is written."""

    def __init__(self, committer: Committer, on_written: Callable[[bool, float], None]) -> None:
        """Wrap `committer`. After each written group, call `on_written(durable, seconds)`."""
        self._committer = committer
        self._on_written = on_written
        self._unanswered: deque[tuple[WriteGroup, float]] = deque()
        self._failed = False
        self.rows_waiting = 0

    def start(self, answer: CommitCallback) -> None:
        """Start the wrapped committer; `answer` receives its results (see Committer)."""

        def answered(result: RowsCommitted | StorageFailed) -> None:
            self._on_result(result)
            answer(result)

        self._loop = asyncio.get_running_loop()
        self._committer.start(answered)

    def commit(self, group: WriteGroup) -> None:
        """Pass a group of rows to the wrapped committer, and store the start time of its wait."""
        self._unanswered.append((group, self._loop.time()))
        self.rows_waiting += len(group.rows)
        self._committer.commit(group)

    def close(self) -> None:
        """Close the wrapped committer, which first writes all accepted groups."""
        self._committer.close()

    def oldest_wait_s(self) -> float:
        """Return the seconds for which the oldest group has waited, or 0.0 if no group waits.

        A disk that refused a write has answered: the machine stops, and nothing is written.
        """
        if self._failed or not self._unanswered:
            return 0.0
        return self._loop.time() - self._unanswered[0][1]

    def _on_result(self, result: RowsCommitted | StorageFailed) -> None:
        if isinstance(result, StorageFailed):
            self._failed = True
            return  # A group that waits now will wait for ever, and shows in the metrics.
        now_s = self._loop.time()
        while self._unanswered and self._unanswered[0][0].last <= result.last:
            group, since_s = self._unanswered.popleft()
            self.rows_waiting -= len(group.rows)
            self._on_written(group.durable, now_s - since_s)


class MachineMetrics:
    """The metrics of one machine, which count its attempts, commands and faults.

    Counts of entries continue after a restart. Other counts begin again.
    """

    def __init__(self) -> None:
        self.route_latency = Histogram(ROUTE_BOUNDS_S)
        self.loop_lag = Histogram(LAG_BOUNDS_S)
        self.refused_commands: Counter[str] = Counter(dict.fromkeys(_REFUSAL_CODES, 0))
        self._journal = {durable: Histogram(JOURNAL_BOUNDS_S) for durable in (False, True)}
        self._counts: Counter[tuple[str, tuple[str, ...]]] = Counter(_ZERO_COUNTS)
        self._unjudged: dict[int, list[BoardEvent]] = {}
        self._judged: deque[int] = deque(maxlen=_MAX_JUDGED)
        self._set_of_attempt: dict[int, str] = {}
        self._last_entry = 0
        self._last_outlet: int | None = None
        self._links: dict[BoardKind, Link] = {}
        self._board_log: BoardLog | None = None
        self._committer: TimedCommitter | None = None

    def time_commits(self, committer: Committer) -> Committer:
        """Wrap `committer`, so that the duration of every write is measured."""
        self._committer = TimedCommitter(
            committer, lambda durable, took_s: self._journal[durable].add(took_s)
        )
        return self._committer

    def oldest_write_wait_s(self) -> float:
        """Return the seconds for which the oldest rows have waited for the journal's writer."""
        return 0.0 if self._committer is None else self._committer.oldest_wait_s()

    def attach(self, board_log: BoardLog, *links: Link) -> None:
        """Add the counters of `board_log` and `links` to the metrics, and measure each ROUTE."""
        self._board_log = board_log
        board_log.on_written = self.on_events_written
        for link in links:
            self._links[link.board] = link
            link.on_sent = self._on_posted

    def count_entry(self, entry: JournalEntry) -> None:
        """Count a new entry of the journal. Entries of earlier runs count too.

        A journal that is read again after a failure of its disk is not counted twice.
        """
        if entry.n <= self._last_entry:
            return
        self._last_entry = entry.n
        _ENTRY_COUNTERS.get(entry.kind, _count_nothing)(self, entry)

    def on_events_written(self, events: Sequence[BoardEvent]) -> None:
        """Count journalled board events, but those of an attempt only after its verdict."""
        for event in events:
            if event.attempt == 0 or event.attempt in self._judged:
                self._count_event(event)
            else:
                self._unjudged.setdefault(event.attempt, []).append(event)

    def collect(self, unsent: int = 0) -> MetricsMessage:
        """Return all metrics. `unsent` is the number of bytes that wait for the gateways."""
        refused = self.refused_commands.items()
        samples = [
            *(MetricSample(name, labels, n) for (name, labels), n in self._counts.items()),
            *self._line_samples(),
            *(MetricSample("orders_refused", (why,), n) for why, n in refused),
            *process_samples(),
            MetricSample("gateway_unsent_bytes", (), unsent),
        ]
        if self._board_log is not None:
            samples.append(MetricSample("wire_events_waiting", (), self._board_log.pending_count))
        if self._committer is not None:
            samples.append(MetricSample("journal_rows_waiting", (), self._committer.rows_waiting))
        distributions = [
            self.route_latency.distribution("route_latency_seconds"),
            self.loop_lag.distribution("loop_lag_seconds"),
            self._journal[False].distribution("journal_write_seconds", "false"),
            self._journal[True].distribution("journal_write_seconds", "true"),
        ]
        return MetricsMessage(tuple(samples), tuple(distributions))

    def _on_posted(self, command: frames.BoardCommand) -> None:
        """Measure the delay of a ROUTE after the arrival of the board event that caused it.

        A ROUTE outside a read callback has no start time. Other commands are ignored.
        """
        if type(command) is frames.RouteCommand:
            for link in self._links.values():
                since_s = link.read_started_at
                if since_s is not None:
                    self.route_latency.add(asyncio.get_running_loop().time() - since_s)

    def _line_samples(self) -> Iterator[MetricSample]:
        for board, link in self._links.items():
            counters = link.counters
            for field in counters.__struct_fields__:
                yield MetricSample(f"line_{field}", (board,), getattr(counters, field))
            yield MetricSample("board_up", (board,), int(link.is_up))
            if link.welcome is not None:
                yield MetricSample("board_fed", (board,), link.welcome.fed)
                yield MetricSample("board_landed", (board,), link.welcome.landed)

    def _count(self, name: str, *labels: str, n: int = 1) -> None:
        self._counts[name, labels] += n

    def _count_event(self, event: BoardEvent) -> None:
        _EVENT_COUNTERS.get(event.code, _count_nothing)(self, event)

    def _count_at(self, name: str, place: JamPlace | DealerMotor) -> None:
        self._counts[name, (place.name.lower(),)] += 1

    # Entries

    def _count_committed(self, entry: JournalEntry) -> None:
        if entry.attempt is not None:
            self._set_of_attempt[entry.attempt] = str(entry.data.get("set", ""))

    def _count_verdict(self, entry: JournalEntry) -> None:
        data = entry.data
        self._count("attempts", data["outcome"])
        self._count("cards_fed", "hopper", n=data["fed"])
        self._count("cards_fed", "tray", n=data["refed"])
        self._count("misreads", n=data["refed"])
        self._count_failure(entry, data["outcome"], data["reasons"])
        attempt = entry.attempt or 0
        self._judged.append(attempt)
        for event in self._unjudged.pop(attempt, ()):
            self._count_event(event)

    def _count_failure(self, entry: JournalEntry, outcome: str, reasons: Sequence[str]) -> None:
        """Count a misdealt, void or withdrawn attempt under its first reason."""
        if outcome != "ok":
            self._count("redeals" if outcome == "misdeal" else "voids", *reasons[:1])
            self._set_of_attempt.pop(entry.attempt or 0, None)

    def _count_released(self, entry: JournalEntry) -> None:
        self._count("deals")
        name = self._set_of_attempt.pop(entry.attempt or 0, "")
        if name:
            self._count("set_deals", name)

    # Events of the boards

    def _count_gate(self, event: BoardEvent) -> None:
        if event.place != self._last_outlet:
            self._count("gate_turns")
        self._last_outlet = event.place

    def _count_read(self, event: BoardEvent) -> None:
        assert isinstance(event, CardReadEvent)
        seen = "face_up" if event.face_up else "face" if event.is_readable else "unreadable"
        self._count("reads", seen)


def _count_nothing(meter: MachineMetrics, counted: object) -> None:
    """Count nothing, because no metric counts this kind of entry or event."""


_ENTRY_COUNTERS: dict[str, Callable[[MachineMetrics, JournalEntry], None]] = {
    "committed": MachineMetrics._count_committed,
    "verdict": MachineMetrics._count_verdict,
    "withdrawn": lambda meter, entry: meter._count_failure(entry, "void", entry.data["reasons"]),
    "released": MachineMetrics._count_released,
    "fault": lambda meter, entry: meter._count("faults", entry.data["name"]),
}
_EVENT_COUNTERS: dict[BoardEventCode, Callable[[MachineMetrics, BoardEvent], None]] = {
    BoardEventCode.GATE: MachineMetrics._count_gate,
    BoardEventCode.LANDED: lambda meter, event: meter._count(
        "tray_cards", n=event.place == Outlet.TRAY
    ),
    BoardEventCode.READ: MachineMetrics._count_read,
    BoardEventCode.JAM: lambda meter, event: meter._count_at("jams", JamPlace(event.place)),
    BoardEventCode.STALL: lambda meter, event: meter._count_at("stalls", DealerMotor(event.place)),
    BoardEventCode.DOUBLE: lambda meter, _: meter._count("double_feeds"),
    BoardEventCode.STRAY: lambda meter, _: meter._count("strays"),
    BoardEventCode.SHUFFLED: lambda meter, event: meter._count("shuffle_passes", n=event.index),
    BoardEventCode.RELEASED: lambda meter, _: meter._count("lifts"),
}
_REFUSAL_CODES = (
    *("UNKNOWN_KEY", "KEY_REVOKED", "KEY_EXPIRED", "BAD_SIGNATURE", "WRONG_ROLE"),
    *("OTHER_RUN", "TOO_MANY_ORDERS"),
)
# Shown as 0 from the start, so that a missing sample never means zero.
_ZERO_COUNTS: dict[tuple[str, tuple[str, ...]], int] = {
    **{(name, ()): 0 for name in ("deals", "misreads", "tray_cards", "double_feeds", "strays")},
    **{("attempts", (outcome.value,)): 0 for outcome in AttemptOutcome},
    **{("jams", (place.name.lower(),)): 0 for place in JamPlace},
    **{("stalls", (motor.name.lower(),)): 0 for motor in DealerMotor},
    **{("reads", (seen,)): 0 for seen in ("face", "face_up", "unreadable")},
}

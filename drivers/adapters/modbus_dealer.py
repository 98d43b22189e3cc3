"""The dealer board's HAL over a Modbus RTU line: drives and remote inputs that people can buy.

Inputs are read in blocks, round after round, as fast as the line goes; outputs are written
before the next read. Everything a unit does not do, or does not answer, stops all motion that
can still be reached, and the board's core is told: `stall` where a drive says no, `drive` where
a unit is away. What moves does so only while every unit answers.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from drivers.adapters.modbus_inputs import ALARM_PREFIX, ImplausibleInput, ModbusInputs, ReadBlock
from drivers.adapters.modbus_map import (
    OPTIONAL_OUTPUTS,
    MappedWord,
    ModbusMap,
    mapped_outputs,
    write_place,
)
from drivers.adapters.modbus_outputs import (
    ModbusOutput,
    ModbusUnit,
    QueuedRequest,
    RequestQueue,
    limitations_of,
    registers_text,
    reply_fault,
    unit_text,
)
from drivers.adapters.modbus_rtu import (
    ACKNOWLEDGE,
    BUSY,
    NEVER_MS,
    ModbusLine,
    ModbusPort,
    ModbusReply,
    ModbusRequest,
)
from drivers.firmware import protocol

# How long the end may take: every motion is told to stop, and those are heard.
STOP_TIMEOUT_MS = 2000
# Rounds over which the time of one is taken.
MEASURED_ROUNDS = 20


class ModbusHal:
    """The pins of a dealer board, as `told` maps them onto the units of a line.

    `clock` gives whole milliseconds that never go back; `say` takes a line for the log.
    Raises MapError where a position does not fit into its registers.
    """

    kind = protocol.HAL_ADAPTER

    def __init__(
        self,
        mapping: ModbusMap,
        port: ModbusPort,
        clock: Callable[[], int],
        log: Callable[[str], None],
    ) -> None:
        self.uid = bytes.fromhex(mapping.adapter.id)
        self.limitations: Sequence[str] = tuple(limitations_of(mapping))
        self.line = ModbusLine(port, mapping.line)
        self._line = mapping.line
        self._port, self._clock, self._log = port, clock, log
        self._inputs = ModbusInputs(mapping)
        self._units = {name: ModbusUnit(name, unit) for name, unit in mapping.unit.items()}
        self._outputs = {
            name: ModbusOutput(name, output, mapping.unit[output.unit].number)
            for name, output in mapped_outputs(mapping)
        }
        self._watched_outputs = tuple(self._outputs_to_watch(mapping))
        self._queue = RequestQueue()
        self._current: QueuedRequest | None = None
        self._edges: list[tuple[int, str, int]] = []
        self._now_ms = 0  # by the shell's clock
        self._next_block = self._next_watch = 0
        self._watch_due_ms = 0
        self._is_unit_away = True  # some unit does not answer; until it does nothing is begun
        self._is_ending = False
        self._rounds: deque[int] = deque(maxlen=MEASURED_ROUNDS + 1)

    # What the shell asks.

    def update(self, now_ms: int) -> None:
        """Hear the line, stop what runs too long, and ask the next thing."""
        self._now_ms, now = now_ms, self._clock()
        self._receive(now)
        self._stop_overdue(now)
        if self.line.is_idle and now >= self.line.free_at:
            self._current = self._next_request(now)
            if self._current is not None:
                self.line.begin_request(self._current.request)
                self._receive(now)

    def sources(self) -> Sequence[int]:
        """Return the line's descriptor, while there is one."""
        source = self._port.source()
        return () if source is None else (source,)

    def due_ms(self, now_ms: int) -> int:
        """Return when the line is free, an answer is late, or a motion has run too long."""
        if self._edges:
            return now_ms
        due = [output.stop_at for output in self._outputs.values()]
        if not self.line.is_idle:
            due.append(self.line.due_ms())
        else:
            due.append(max(self.line.free_at, self._next_at()))
        return now_ms + max(0, min(due) - self._clock())

    def stop(self) -> None:
        """Tell every drive to stop, hear them as far as they answer, and let go of the line."""
        until = self._clock() + STOP_TIMEOUT_MS
        self._is_unit_away = self._is_ending = True
        self._stop_all(reach=True)
        while (self._queue or not self.line.is_idle) and (now := self._clock()) < until:
            self.update(self._now_ms)
            due = self.line.free_at if self.line.is_idle else self.line.due_ms()
            self._port.wait(max(1, min(due - now, STOP_TIMEOUT_MS)))
        self._port.close()

    def wait_for_units(self, limit_ms: int) -> None:
        """Wait until every unit was found, or not, and say how fast inputs are read."""
        until = self._clock() + limit_ms
        while (now := self._clock()) < until and (not self.has_tried_units or self._is_measuring()):
            self.update(0)
            due = self.line.free_at if self.line.is_idle else self.line.due_ms()
            self._port.wait(max(1, min(due, until) - now))
        if self.round_ms is not None:
            reads = len(self._inputs.blocks)
            self._log(f"inputs are read in {reads} requests, every {self.round_ms:.0f} ms")

    def _is_measuring(self) -> bool:
        return not self._is_unit_away and len(self._rounds) <= MEASURED_ROUNDS

    @property
    def has_tried_units(self) -> bool:
        """Whether every unit answered once, or was found not to, and all inputs were read."""
        return all(unit.was_tried for unit in self._units.values())

    @property
    def round_ms(self) -> float | None:
        """How long it takes to read every input once, of late; None until that was seen."""
        if len(self._rounds) < 2:
            return None
        return (self._rounds[-1] - self._rounds[0]) / (len(self._rounds) - 1)

    def unit_faults(self) -> list[str]:
        """Return a line for each unit that does not answer."""
        return [
            f"{unit_text(unit)}: {unit.fault_text}"
            for unit in self._units.values()
            if not unit.is_up
        ]

    # What the core asks.

    def read(self, name: str) -> int:
        """Return the level of an input as last read; 0 for one that this table lacks."""
        return self._inputs.levels.get(name, 0)

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, name, value) of every change since last asked, oldest first."""
        edges, self._edges = self._edges, []
        return edges

    def set(self, name: str, value: int) -> None:
        """Have an output where it should be, before anything is read.

        Where a unit is away nothing is begun; the core hears so once more.
        """
        if name in OPTIONAL_OUTPUTS and name not in self._outputs:
            return
        output = self._outputs[name]
        stops = value == output.stop
        if self._is_unit_away and not stops:
            output.commanded = None
            if output.motor is not None:
                self._report_away()
            return
        if not self._units[output.unit].is_up:
            return  # the first word to it, once it is back, is to stop
        if self.read(ALARM_PREFIX + name) and not stops:
            self._report_stall(output)
            return
        if value == output.commanded:
            return
        output.commanded = value
        runs = output.limit_ms is not None and not stops
        output.stop_at = self._clock() + (output.limit_ms or 0) if runs else NEVER_MS
        self._queue_write(output, value, stops=stops)

    # What is asked of the line, and in which order.

    def _receive(self, now: int) -> None:
        """Send, and take what became of the present request, once there is something."""
        answer = self.line.update(now)
        if answer is not None and self._current is not None:
            job, self._current = self._current, None
            job.on_reply(answer, now)

    def _next_at(self) -> int:
        """Return from when there is something to ask."""
        units = self._units.values()
        reads = any(self._units[block.unit].is_up for block in self._inputs.blocks)
        if self._queue or reads or any(unit.steps for unit in units):
            return 0
        due = [unit.probe_at for unit in units if not unit.is_up]
        return min([*due, self._watch_due_ms] if self._watched_outputs else due)

    def _next_request(self, now: int) -> QueuedRequest | None:
        """Return the next request: orders, then units that come, then those to be watched."""
        if self._queue:
            return self._queue.pop()
        if self._is_ending:
            return None
        for unit in self._units.values():
            if not unit.is_up and not unit.steps and now >= unit.probe_at:
                unit.steps.extend(self._startup_requests(unit))
            if unit.steps:
                return unit.steps.popleft()
        if now >= self._watch_due_ms and self._watched_outputs:
            self._watch_due_ms = now + self._line.watch_ms // len(self._watched_outputs)
            self._next_watch = (self._next_watch + 1) % len(self._watched_outputs)
            output = self._watched_outputs[self._next_watch]
            if self._units[output.unit].is_up:
                return QueuedRequest(
                    output.unit, output.read_request(), lambda a, at: self._on_watched(output, a)
                )
        return self._next_read(now)

    def _next_read(self, now: int) -> QueuedRequest | None:
        blocks = self._inputs.blocks
        for _ in blocks:
            block = blocks[self._next_block]
            self._next_block = (self._next_block + 1) % len(blocks)
            if self._next_block == 0:
                self._rounds.append(now)
            if self._units[block.unit].is_up:
                return self._read_request(block)
        return None

    def _read_request(self, block: ReadBlock, *, fresh: bool = False) -> QueuedRequest:
        unit = self._units[block.unit]

        def heard(answer: ModbusReply, now: int) -> None:
            if fresh:
                self._on_first_read(unit, block, answer, now)
            else:
                self._on_read(unit, block, answer)

        return QueuedRequest(
            unit.name, ModbusRequest(unit.number, block.table, block.address, block.count), heard
        )

    def _queue_write(
        self, output: ModbusOutput, value: int, *, stops: bool, tries: int = 0
    ) -> None:
        """Have an order written."""

        def heard(answer: ModbusReply, now: int) -> None:
            self._on_written(output, value, tries, answer)

        job = QueuedRequest(output.unit, output.write_request(value), heard, output.name, stops)
        self._queue.add(job)

    def _stop_all(self, *, reach: bool = False) -> None:
        """Have every motion stopped that can be reached; `reach`: try those that are away, too."""
        self._queue.clear()
        for output in self._outputs.values():
            unit = self._units[output.unit]
            output.reset()
            if output.stop is not None and (unit.is_up or reach):
                output.commanded = output.stop
                self._queue_write(output, output.stop, stops=True)
        for unit in self._units.values():
            if unit.mapping.halt is not None and (unit.is_up or reach):
                self._queue.add(self._word_request(unit, unit.mapping.halt))

    def _word_request(
        self, unit: ModbusUnit, word: MappedWord, *, coming: bool = False
    ) -> QueuedRequest:
        def heard(answer: ModbusReply, now: int) -> None:
            (self._unit_step_done if coming else self._on_halted)(unit, answer, now)

        table, address = write_place(word)
        ask = ModbusRequest(unit.number, table, address, 0, (word.value % 0x10000,))
        return QueuedRequest(unit.name, ask, heard, is_stop=True)

    # A unit that comes: it is stopped, told its watchdog, and read.

    def _startup_requests(self, unit: ModbusUnit) -> Iterator[QueuedRequest]:
        """Yield what a unit is asked, one behind the other, before it counts as there."""

        def came(answer: ModbusReply, now: int) -> None:
            self._unit_step_done(unit, answer, now)

        for output in self._outputs.values():
            if output.unit != unit.name:
                continue
            if output.stop is not None:
                yield QueuedRequest(
                    unit.name, output.write_request(output.stop), came, output.name, True
                )
            if output.verify:
                wrote = () if output.stop is None else output.words[output.stop]
                yield self._read_back_request(unit, output.read_request(), wrote)
        if unit.mapping.halt is not None:
            yield self._word_request(unit, unit.mapping.halt, coming=True)
        if unit.mapping.watchdog is not None:
            yield self._word_request(unit, unit.mapping.watchdog, coming=True)
            table, address = write_place(unit.mapping.watchdog)
            look = ModbusRequest(unit.number, table, address)
            yield self._read_back_request(unit, look, (unit.mapping.watchdog.value % 0x10000,))
        for block in self._inputs.blocks:
            if block.unit == unit.name:
                yield self._read_request(block, fresh=True)

    def _read_back_request(
        self, unit: ModbusUnit, look: ModbusRequest, wrote: tuple[int, ...]
    ) -> QueuedRequest:
        """Read back what was written to a unit that comes; nothing is wrong where nothing was."""

        def heard(answer: ModbusReply, now: int) -> None:
            found = answer.values
            if wrote and found and wrote[: len(found)] != found:
                says, was = registers_text(found), registers_text(wrote[: len(found)])
                answer = ModbusReply(silence_reason=f"{look} says {says} where {was} was written")
            self._unit_step_done(unit, answer, now)

        return QueuedRequest(unit.name, look, heard)

    def _on_first_read(
        self, unit: ModbusUnit, block: ReadBlock, answer: ModbusReply, now: int
    ) -> None:
        if answer.values:
            self._inputs.update(block, answer.values, fresh=True)
            if not unit.was_tried:
                self._inputs.pop_changes()  # how things stood at the start is no change
        self._unit_step_done(unit, answer, now)

    def _unit_step_done(self, unit: ModbusUnit, answer: ModbusReply, now: int) -> None:
        """Go on with a unit that comes, or give it up until the next look."""
        bad = reply_fault(answer)
        if bad is not None:
            unit.steps.clear()
            unit.was_tried = True
            unit.probe_at = now + self._line.probe_ms
            self._set_fault(unit, bad)
            self._report_away()
        elif not unit.steps:
            unit.is_up = unit.was_tried = True
            unit.fault_text = ""
            for output in self._outputs.values():
                if output.unit == unit.name:
                    output.reset()
                    output.commanded = output.confirmed = output.stop
            self._log(f"{unit_text(unit)} answers")
            self._check_all_up()

    def _check_all_up(self) -> None:
        if self._is_unit_away and all(unit.is_up for unit in self._units.values()):
            self._is_unit_away = False
            self._edges.append((self._now_ms, "drive", 0))

    # What the answers say.

    def _on_read(self, unit: ModbusUnit, block: ReadBlock, answer: ModbusReply) -> None:
        bad = reply_fault(answer)
        if bad is not None:
            self._on_unit_lost(unit, f"{bad}, when {block.table} {block.address} was read")
            return
        try:
            self._inputs.update(block, answer.values, fresh=False)
        except ImplausibleInput as odd:
            self._on_unit_lost(unit, str(odd))
            return
        blocks = self._inputs.blocks
        due = blocks[self._next_block :] if self._next_block else ()
        if not any(self._units[one.unit].is_up for one in due):
            self._report_changes(self._inputs.pop_changes())

    def _on_written(
        self, output: ModbusOutput, value: int, tries: int, answer: ModbusReply
    ) -> None:
        unit = self._units[output.unit]
        stops = value == output.stop
        if answer.exception_code == BUSY and tries < self._line.retries:
            self._queue_write(output, value, stops=stops, tries=tries + 1)
        elif answer.silence_reason is not None and output.verify and not stops:
            self._verify(output, value, tries + 1)  # did it hear?
        elif answer.silence_reason is not None:
            self._on_unit_lost(unit, f"{answer.silence_reason}, when {output.name} was written")
        elif answer.exception_code not in (None, ACKNOWLEDGE):
            self._on_refusal(output, value, reply_fault(answer) or "")
        else:
            output.confirmed = value
            if output.verify and output.commanded == value:
                self._verify(output, value, tries=0)

    def _verify(self, output: ModbusOutput, value: int, tries: int) -> None:
        """Read an order back; `tries`: so often it was written without an answer."""

        def heard(answer: ModbusReply, now: int) -> None:
            bad = reply_fault(answer)
            if bad is not None:
                self._on_unit_lost(
                    self._units[output.unit], f"{bad}, when {output.name} was read back"
                )
            elif output.commanded != value:
                return  # it was told otherwise meanwhile
            elif not output.is_different(value, answer.values):
                output.confirmed = value
            elif 0 < tries <= self._line.retries:
                self._queue_write(output, value, stops=value == output.stop, tries=tries)
            else:
                self._on_wrong_readback(output, value, answer.values)

        job = QueuedRequest(output.unit, output.read_request(), heard, output.name)
        self._queue.add_first(job)

    def _on_watched(self, output: ModbusOutput, answer: ModbusReply) -> None:
        """Hear a unit that was only asked whether it is there."""
        bad = reply_fault(answer)
        if bad is not None:
            self._on_unit_lost(self._units[output.unit], f"{bad}, when {output.name} was read back")
            return
        stands = output.confirmed
        due = self._queue.has_request_for(output.name)
        if not output.verify or due or stands is None or stands != output.commanded:
            return
        if output.is_different(stands, answer.values):
            self._on_wrong_readback(output, stands, answer.values)

    def _on_wrong_readback(self, output: ModbusOutput, value: int, found: tuple[int, ...]) -> None:
        wrote = output.words[value][: len(found)]
        why = f"says {registers_text(found)} where {registers_text(wrote)} was written"
        self._on_refusal(output, value, why)

    def _on_refusal(self, output: ModbusOutput, value: int, why: str) -> None:
        """A drive will not: its motor counts as stalled, and is told to stop."""
        unit = self._units[output.unit]
        why = f"{why}, when {output.name} was written"
        if output.motor is None or value == output.stop:
            self._on_unit_lost(unit, why)  # what cannot be stopped, or takes the cards astray
            return
        self._log(f"{unit_text(unit)} {why}: {output.name} is stopped")
        output.reset()
        if output.stop is not None:
            output.commanded = output.stop
            self._queue_write(output, output.stop, stops=True)
        self._report_stall(output)

    def _report_stall(self, output: ModbusOutput) -> None:
        if output.motor is not None:
            self._edges.append((self._now_ms, "stall", output.motor))

    def _on_halted(self, unit: ModbusUnit, answer: ModbusReply, now: int) -> None:
        bad = reply_fault(answer)
        if bad is not None:
            self._on_unit_lost(unit, f"{bad}, when it was halted")

    def _on_unit_lost(self, unit: ModbusUnit, why: str) -> None:
        """A unit is away: stop all others, and look for it again soon."""
        unit.is_up = False
        unit.steps.clear()
        unit.probe_at = self._clock()
        self._is_unit_away = True
        self._set_fault(unit, why)
        self._stop_all()
        self._report_away()

    def _set_fault(self, unit: ModbusUnit, why: str) -> None:
        if why != unit.fault_text:
            unit.fault_text = why
            self._log(f"{unit_text(unit)} is away: {why}; nothing moves until it answers")

    def _report_away(self) -> None:
        """Say which unit is away; one whose troubles are over by now was the last one."""
        away = [unit.number for unit in self._units.values() if not unit.is_up]
        edge = (self._now_ms, "drive", away[0] if away else 0)
        if edge not in self._edges:
            self._edges.append(edge)

    def _report_changes(self, edges: list[tuple[str, int]]) -> None:
        for name, value in edges:
            if not name.startswith(ALARM_PREFIX):
                self._edges.append((self._now_ms, name, value))
            elif value:
                output = self._outputs[name.removeprefix(ALARM_PREFIX)]
                self._on_refusal(output, -1, "says that it has given up")

    def _stop_overdue(self, now: int) -> None:
        """Stop every motion that has run for longer than its limit."""
        for output in self._outputs.values():
            if output.stop_at <= now and output.stop is not None:
                output.stop_at = NEVER_MS
                self._log(f"{output.name} ran longer than its limit_ms: stopped")
                output.commanded = output.stop
                self._queue_write(output, output.stop, stops=True)
                self._report_stall(output)

    def _outputs_to_watch(self, mapping: ModbusMap) -> Iterator[ModbusOutput]:
        """Yield the outputs that are read back now and then: verified ones, and one for each unit
        that has no inputs."""
        heard = {block.unit for block in self._inputs.blocks}
        for output in self._outputs.values():
            if output.verify or output.unit not in heard:
                heard.add(output.unit)
                yield output

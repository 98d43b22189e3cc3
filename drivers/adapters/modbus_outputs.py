"""What the HAL over a Modbus line knows of its units, its outputs and its requests."""

from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

from drivers.adapters.modbus_map import (
    MOTORS,
    STOP_VALUES,
    MappedGate,
    MappedOutput,
    MappedUnit,
    ModbusMap,
    output_words,
    units_without_watchdog,
    write_place,
)
from drivers.adapters.modbus_rtu import EXCEPTION_TEXTS, NEVER_MS, ModbusReply, ModbusRequest


class ModbusUnit:
    """One unit: whether it answers, and what it is told when it comes."""

    def __init__(self, name: str, told: MappedUnit) -> None:
        self.name = name
        self.number = told.number
        self.mapping = told
        self.is_up = False
        self.was_tried = False
        self.probe_at = 0
        self.steps: deque[QueuedRequest] = deque()
        self.fault_text = ""


class ModbusOutput:
    """One output: where it is written, and what it was told last (None: nobody knows)."""

    def __init__(self, name: str, mapping: MappedOutput | MappedGate, number: int) -> None:
        self.name = name
        self.unit = mapping.unit
        self.number = number
        self.table, self.address = write_place(mapping)
        self.words = output_words(name, mapping)
        self.verify = mapping.verify
        self.stop = STOP_VALUES.get(name)
        self.motor = MOTORS.get(name)
        self.limit_ms = getattr(mapping, "limit_ms", None)
        self.commanded: int | None = None
        self.confirmed: int | None = None
        self.stop_at = NEVER_MS

    def write_request(self, value: int) -> ModbusRequest:
        """Return the request that says where it should be."""
        repeated = not self.verify or value == self.stop
        return ModbusRequest(self.number, self.table, self.address, 0, self.words[value], repeated)

    def read_request(self) -> ModbusRequest:
        """Return the request that reads an order back: a position whole, of a list the command."""
        count = len(self.words[0]) if self.name == "gate" else 1
        return ModbusRequest(self.number, self.table, self.address, count)

    def is_different(self, value: int, found: tuple[int, ...]) -> bool:
        """Tell whether something else than the order for `value` was read back."""
        return self.words[value][: len(found)] != found

    def reset(self) -> None:
        """Be where nobody knows."""
        self.commanded = self.confirmed = None
        self.stop_at = NEVER_MS


class QueuedRequest(Struct):
    """One request, who it is for, and what is done with the answer."""

    unit: str
    request: ModbusRequest
    on_reply: Callable[[ModbusReply, int], None]
    output: str = ""
    is_stop: bool = False


class RequestQueue:
    """The orders that wait for the line: those to stop first, the others in turn."""

    def __init__(self) -> None:
        self._requests: deque[QueuedRequest] = deque()

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._requests)

    def add(self, request: QueuedRequest) -> None:
        """Have it wait its turn; one to stop goes before, in place of its output's others."""
        if not request.is_stop:
            self._requests.append(request)
            return
        if request.output:
            self._requests = deque(one for one in self._requests if one.output != request.output)
        self.add_first(request)

    def add_first(self, request: QueuedRequest) -> None:
        """Have it go next but for what stops."""
        self._requests.insert(sum(one.is_stop for one in self._requests), request)

    def pop(self) -> QueuedRequest:
        """Take the one whose turn it is; only while any waits."""
        return self._requests.popleft()

    def has_request_for(self, output: str) -> bool:
        """Whether any of that output waits."""
        return any(one.output == output for one in self._requests)

    def clear(self) -> None:
        """Forget them all."""
        self._requests.clear()


def reply_fault(answer: ModbusReply) -> str | None:
    """Return what is wrong with an answer, in words; None: nothing."""
    if answer.silence_reason is not None:
        return answer.silence_reason
    if answer.exception_code is not None:
        text = EXCEPTION_TEXTS.get(answer.exception_code, "exception")
        return f"refuses: {text} ({answer.exception_code})"
    return None


def registers_text(values: tuple[int, ...]) -> str:
    """Return registers as people read them."""
    return " ".join(map(str, values))


def unit_text(unit: ModbusUnit) -> str:
    """Return a unit as people know it: by its number and its name."""
    return f"unit {unit.number} ({unit.name})"


def limitations_of(mapping: ModbusMap) -> Iterator[str]:
    """Yield what this line cannot promise, and a board of its own could."""
    if bare := units_without_watchdog(mapping):
        yield (
            "that motion ends when this program or its line dies: no watchdog is mapped for "
            f"{', '.join(bare)}"
        )
    yield "limits in the board: drives are told to stop by this program, over the line"
    yield "that a card stops in the window at once: the drive hears of it a request later"
    if mapping.output.trigger is not None:
        yield "when the trigger wire speaks: a request or two behind the card"

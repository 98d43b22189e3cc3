"""What the HAL over a Modbus line knows of its units, its outputs and its requests."""

from collections import deque
from collections.abc import Callable, Iterator

from msgspec import Struct

from drivers.adapters.modbus_line import EXCEPTION_TEXTS, NEVER_MS, Answer, Ask
from drivers.adapters.modbus_map import (
    MOTORS,
    STOPS,
    Gate,
    ModbusMap,
    Output,
    Unit,
    place_of,
    units_without_watchdog,
    writes,
)


class ModbusUnit:
    """One unit: whether it answers, and what it is told when it comes."""

    def __init__(self, name: str, told: Unit) -> None:
        self.name = name
        self.number = told.number
        self.told = told
        self.up = False
        self.tried = False
        self.probe_at = 0
        self.steps: deque[QueuedRequest] = deque()
        self.trouble = ""


class ModbusOutput:
    """One output: where it is written, and what it was told last (None: nobody knows)."""

    def __init__(self, name: str, told: Output | Gate, number: int) -> None:
        self.name = name
        self.unit = told.unit
        self.number = number
        self.table, self.address = place_of(told)
        self.words = writes(name, told)
        self.verify = told.verify
        self.stop = STOPS.get(name)
        self.motor = MOTORS.get(name)
        self.limit_ms = getattr(told, "limit_ms", None)
        self.asked: int | None = None
        self.stands: int | None = None
        self.stop_at = NEVER_MS

    def order(self, value: int) -> Ask:
        """Return the request that says where it should be."""
        repeated = not self.verify or value == self.stop
        return Ask(self.number, self.table, self.address, 0, self.words[value], repeated)

    def look(self) -> Ask:
        """Return the request that reads an order back: a position whole, of a list the command."""
        count = len(self.words[0]) if self.name == "gate" else 1
        return Ask(self.number, self.table, self.address, count)

    def differs(self, value: int, found: tuple[int, ...]) -> bool:
        """Tell whether something else than the order for `value` was read back."""
        return self.words[value][: len(found)] != found

    def forget(self) -> None:
        """Be where nobody knows."""
        self.asked = self.stands = None
        self.stop_at = NEVER_MS


class QueuedRequest(Struct):
    """One request, who it is for, and what is done with the answer."""

    unit: str
    ask: Ask
    heard: Callable[[Answer, int], None]
    output: str = ""
    stops: bool = False


class Orders:
    """The orders that wait for the line: those to stop first, the others in turn."""

    def __init__(self) -> None:
        self._requests: deque[QueuedRequest] = deque()

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._requests)

    def put(self, job: QueuedRequest) -> None:
        """Have it wait its turn; one to stop goes before, in place of its output's others."""
        if not job.stops:
            self._requests.append(job)
            return
        if job.output:
            self._requests = deque(one for one in self._requests if one.output != job.output)
        self.add_first(job)

    def add_first(self, job: QueuedRequest) -> None:
        """Have it go next but for what stops."""
        self._requests.insert(sum(one.stops for one in self._requests), job)

    def next(self) -> QueuedRequest:
        """Take the one whose turn it is; only while any waits."""
        return self._requests.popleft()

    def wait_for(self, output: str) -> bool:
        """Whether any of that output waits."""
        return any(one.output == output for one in self._requests)

    def clear(self) -> None:
        """Forget them all."""
        self._requests.clear()


def reply_fault(answer: Answer) -> str | None:
    """Return what is wrong with an answer, in words; None: nothing."""
    if answer.silent is not None:
        return answer.silent
    if answer.refused is not None:
        return f"refuses: {EXCEPTION_TEXTS.get(answer.refused, 'exception')} ({answer.refused})"
    return None


def words_in(values: tuple[int, ...]) -> str:
    """Return registers as people read them."""
    return " ".join(map(str, values))


def called(unit: ModbusUnit) -> str:
    """Return a unit as people know it: by its number and its name."""
    return f"unit {unit.number} ({unit.name})"


def cannot_of(told: ModbusMap) -> Iterator[str]:
    """Yield what this line cannot promise, and a board of its own could."""
    if bare := units_without_watchdog(told):
        yield (
            "that motion ends when this program or its line dies: no watchdog is mapped for "
            f"{', '.join(bare)}"
        )
    yield "limits in the board: drives are told to stop by this program, over the line"
    yield "that a card stops in the window at once: the drive hears of it a request later"
    if told.output.trigger is not None:
        yield "when the trigger wire speaks: a request or two behind the card"

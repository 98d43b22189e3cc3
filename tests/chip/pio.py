"""The chip's PIO: an assembler for the words that a program uses, and what a program does then.

The program is the firmware's own text, run once with these words for its names, as MicroPython
does it; then each instruction is carried out, cycle by cycle, until it waits for a word that is
not there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

WORD = 1 << 32
RIGHT, LEFT = 1, 0


@dataclass
class Instruction:
    """One instruction; `[n]` behind it makes it take n cycles more."""

    op: str
    args: tuple[object, ...]
    delay: int = 0

    def __getitem__(self, delay: int) -> "Instruction":
        self.delay = delay
        return self


@dataclass
class Program:
    """A program, and how its state machine is to be set up."""

    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    begin: int = 0
    end: int = 0
    out_shiftdir: int = LEFT


def assemble(text: Callable[[], None], **options: Any) -> Program:
    """Return the program that a function spells."""
    program = Program(out_shiftdir=options.get("out_shiftdir", LEFT))

    def op(name: str) -> Callable[..., Instruction]:
        def add(*args: object) -> Instruction:
            program.code.append(Instruction(name, args))
            return program.code[-1]

        return add

    words: dict[str, object] = {
        **{name: op(name) for name in ("pull", "out", "mov", "set", "jmp", "nop")},
        **{name: name for name in ("x", "y", "osr", "pins", "block", "x_dec", "y_dec")},
        "label": lambda name: program.labels.__setitem__(name, len(program.code)),
        "wrap_target": lambda: setattr(program, "begin", len(program.code)),
        "wrap": lambda: setattr(program, "end", len(program.code)),
    }
    names = text.__globals__
    kept = dict(names)
    names.update(words)
    try:
        text()
    finally:
        names.clear()
        names.update(kept)
    assert len(program.code) <= 32, "a PIO holds 32 instructions"
    return program


@dataclass(frozen=True)
class Run:
    """What a program did with some words: when its pin changed, and when it had no more to do."""

    edges: tuple[tuple[int, int], ...]
    cycles: int

    @property
    def rises(self) -> list[int]:
        return [at for at, level in self.edges if level]


def run(program: Program, words: Sequence[int]) -> Run:
    """Carry the program out until it waits for a word; the pin is low before."""
    fifo, at, cycle, level = list(words), program.begin, 0, 0
    state = {"x": 0, "y": 0, "osr": 0}
    edges: list[tuple[int, int]] = []
    while True:
        one = program.code[at]
        following = program.begin if at + 1 == program.end else at + 1
        match one.op, one.args:
            case "pull", ("block",):
                if not fifo:
                    return Run(tuple(edges), cycle)
                state["osr"] = fifo.pop(0)
            case "out", (str(to), int(bits)):
                assert program.out_shiftdir == RIGHT
                state[to] = state["osr"] % (1 << bits)
                state["osr"] >>= bits
            case "mov", (str(to), str(source)):
                state[to] = state[source]
            case "set", ("pins", int(value)):
                if value != level:
                    level = value
                    edges.append((cycle, level))
            case "jmp", (("x_dec" | "y_dec") as what, str(to)):
                register, target = str(what)[0], program.labels[to]
                if target == at:  # it waits: all of its rounds at once
                    cycle += state[register]
                    state[register] = 0
                elif state[register]:
                    following = target
                state[register] = (state[register] - 1) % WORD
            case other:
                raise AssertionError(f"the PIO has no such instruction here: {other}")
        cycle += 1 + one.delay
        at = following

"""The operator of a bench: a person who does the actions that the terminal shows."""

import asyncio
import os
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _pytest.outcomes import Exit  # pytest.exit.Exception, with a type

from hil_tests.harness.features import Feature, missing_features
from hil_tests.harness.hands import GuidedStep, StepSkipped, load_steps

BELL = "\a"
ANSWER_HELP = (
    "   Enter: 完成 done   skip WHY: 做不了 cannot be done here   stop: 结束 end the run\n"
)
SIGNAL_WORD = "go"
"""The first word of a signal, so that it is not mistaken for a question."""
COUNT_HANDS_TEXT = (
    "清点四家手中的牌，按 北 西 南 东 的次序输入张数",
    "Count the cards in the four hands; type the numbers of north, west, south and east",
)
_BUTTONS = {"start": ("开始键", "the start button")} | {
    f"{en}_{colour}": (f"{zh}{colour_zh}键", f"{en}'s {colour} button")
    for en, zh in (("north", "北家"), ("west", "西家"), ("south", "南家"), ("east", "东家"))
    for colour, colour_zh in (("green", "绿"), ("red", "红"))
}


class RunStopped(Exit):
    """An exception that ends pytest: the operator has ended the run, or the terminal is gone."""


class OperatorTerminal:
    """The terminal at which the operator reads and answers questions.

    It is opened with the first question. The running loop reads its lines, so the daemon's feed is
    still read while the operator thinks.
    """

    def __init__(self, path: Path) -> None:
        """Store the path of the terminal, which is not opened yet."""
        self._path = path
        self._fd: int | None = None
        self._rest = b""
        self._is_closed = False

    def show(self, text: str) -> None:
        """Write text to the terminal. Raises OSError if there is no such terminal."""
        os.write(self._open_fd(), text.encode())

    async def read_answer(self) -> str:
        """Return the operator's next line, stripped. Raises RunStopped if the terminal is gone."""
        fd, loop = self._open_fd(), asyncio.get_running_loop()
        typed = asyncio.Event()

        def take() -> None:
            got = os.read(fd, 1024)  # This read cannot block, because input is ready.
            self._is_closed = not got
            self._rest += got
            typed.set()

        loop.add_reader(fd, take)
        try:
            while b"\n" not in self._rest:
                await typed.wait()
                typed.clear()
                if self._is_closed:
                    raise RunStopped(f"{self._path}: the terminal is gone")
        finally:
            loop.remove_reader(fd)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace").strip()

    def discard_input(self) -> None:
        """Discard all earlier input, so that it cannot answer the next question."""
        termios.tcflush(self._open_fd(), termios.TCIFLUSH)
        self._rest = b""

    def close(self) -> None:
        """Close the terminal. May be called twice."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open_fd(self) -> int:
        if self._fd is None:
            self._fd = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        return self._fd


class BenchOperator:
    """The TableHands of a real bench: the operator does the actions that the terminal shows.

    A step that the bench does not support raises StepSkipped before the operator is asked.
    """

    is_simulated = False

    def __init__(
        self,
        terminal: OperatorTerminal,
        features: frozenset[Feature],
        on_step: Callable[[str], None],
    ) -> None:
        """Store the arguments; `on_step` receives a line for the report after each action."""
        self._terminal, self._features, self._on_step = terminal, features, on_step

    async def do_step(self, name: str) -> None:
        """Ask the operator to do the step `name` of steps.toml, and wait until they confirm it."""
        wanted = self._find_step(name)
        await self._ask(f"do {name}", wanted.zh, wanted.en)

    async def prepare_step(self, name: str) -> None:
        """Ask the operator to get ready for the step `name`, and wait until they are ready."""
        wanted = self._find_step(name)
        await self._ask(
            f"ready {name}",
            f"听到信号后立即：{wanted.zh}。准备好后按 Enter",
            f"At the signal, at once: {wanted.en}. Press Enter when you are ready",
        )

    async def signal_step(self, name: str) -> None:
        """Ring the terminal's bell, and show that the prepared step `name` must be done now."""
        wanted = self._find_step(name)
        self._terminal.show(
            f"{BELL}\n== {SIGNAL_WORD} {name} ==\n   现在！NOW! {wanted.zh} {wanted.en}\n"
        )

    async def press_button(self, button: str) -> None:
        """Ask the operator to press a button of the panel, and wait until they confirm it."""
        zh, en = _BUTTONS[button]
        await self._ask(f"press {button}", f"按一下{zh}", f"Press {en}")

    async def count_hands(self) -> tuple[int, ...]:
        """Ask the operator how many cards the players N, W, S and E hold. Return the numbers."""
        while True:
            words = (await self._ask("count hands", *COUNT_HANDS_TEXT)).split()
            if len(words) == 4 and all(word.isdigit() for word in words):
                return tuple(map(int, words))
            self._terminal.show("   四个数字，例如 27 27 27 27 / four numbers, like 27 27 27 27\n")

    async def read_truth(self) -> dict[str, Any]:
        """Raise StepSkipped, because a real machine cannot report the place of every card."""
        raise StepSkipped("at a bench the place of every card is not known")

    async def cause_fault(self, name: str, **fields: Any) -> None:
        """Raise StepSkipped, because a real machine has no fault menu."""
        raise StepSkipped("a real machine has no fault menu")

    async def read_faults(self) -> dict[str, Any]:
        """Raise StepSkipped, because a real machine has no simulated faults."""
        raise StepSkipped("a real machine has no fault menu")

    async def slow_down(self) -> None:
        """Do nothing, because a real machine has only one speed."""

    async def restore_speed(self) -> None:
        """Do nothing, because a real machine has only one speed."""

    async def restore_table(self) -> None:
        """Ask the operator to put cables, emergency stop, tape, cards and lid in order."""
        zh = "恢复原状：插好连接线，松开急停，揭下胶带，放好一套清点无误的牌，合上机盖"
        en = (
            "Bring the table back: cables in, e-stop released, tape off, "
            "a counted set in the hopper and no other card in the machine, lid closed"
        )
        await self._ask("tidy table", zh, en)

    def _find_step(self, name: str) -> GuidedStep:
        wanted = load_steps()[name]
        if (reason := missing_features(wanted.needs, self._features)) is not None:
            raise StepSkipped(reason)
        return wanted

    async def _ask(self, what: str, zh: str, en: str) -> str:
        """Show a request in Chinese (`zh`) and English (`en`), and return the operator's answer.

        `what` is the short name of the request. Raises StepSkipped after the answer "skip", and
        RunStopped after "stop".
        """
        self._terminal.discard_input()
        self._terminal.show(f"\n== {what} ==\n   {zh}\n   {en}\n{ANSWER_HELP}> ")
        answer = await self._terminal.read_answer()
        word, _, why = answer.partition(" ")
        if word == "stop":
            raise RunStopped("the operator ended the run")
        if word == "skip":
            raise StepSkipped(why or "the operator could not do it")
        self._on_step(f"{what}{': ' + answer if answer else ''}")
        return answer

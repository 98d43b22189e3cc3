"""Access to a table's boards, and requests for manual steps, while no machine process runs."""

import asyncio
import os
import secrets
import sys
import termios
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from controller.acceptance.board_pair import BoardPair
from controller.acceptance.selftest_figures import machine_parts
from controller.acceptance.selftest_session import (
    CardSetSpec,
    Operator,
    SimulatedOperator,
    StepName,
    operator_step,
)
from controller.cli import CliError
from controller.config import TableConfig
from controller.expected_boards import expected_boards
from controller.faults import driver_error_fault, fault
from controller.journal.attempt_history import attempt_histories
from controller.journal.entries import ChainBreak, JournalError, walk_chain
from controller.journal.store import STORE_NAME, hold_journal_lock, open_read_only
from controller.rules.profile_files import load_profile
from controller.service.process_signals import termination_signals
from drivers.board_events import Back
from drivers.errors import DriverError, PortBusy
from drivers.flash.firmware_image import own_image
from drivers.link.serial_port import SerialPort

T = TypeVar("T")

_SIMULATED_PINS_PREFIX: Final = "unix:"
_ANSWER_HINT: Final = "   Enter: 完成 done   skip: 做不了 cannot be done\n"
STOP_DELAY_S: Final = 0.05
"""Time for a STOP to leave on the line before the port is closed."""


def run_until_signal(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work` and return its result. If a signal arrives first, cancel `work`.

    The cancelled `work` must stop all motion. Raises CliError after a signal.
    """

    async def run() -> T:
        task = asyncio.ensure_future(work())
        for number in termination_signals():
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        return await task

    try:
        return asyncio.run(run())
    except asyncio.CancelledError:
        raise CliError(
            "已中断，机器已停。机内可能有牌：打开机盖，清空牌槽、复核盘和牌道。 "
            "Interrupted; all motion was stopped. Cards may be in the machine: "
            f"{fault('PATH_NOT_CLEAR').action()}"
        ) from None


@contextmanager
def exclude_machine(config: TableConfig) -> Iterator[None]:
    """Lock a table's journal, so that no machine process can run during the `with` block.

    Raises CliError if a machine runs, or if a deal is not over, because its cards are evidence.
    """
    state_dir = config.table.state_dir
    try:
        with hold_journal_lock(state_dir):
            if (state_dir / STORE_NAME).exists():
                _refuse_open_attempt(state_dir / STORE_NAME)
            yield
    except JournalError as error:
        raise CliError(f"{error}") from None


def _refuse_open_attempt(path: Path) -> None:
    with open_read_only(path) as rows:
        known = attempt_histories(
            one.entry for one in walk_chain(rows) if not isinstance(one, ChainBreak)
        )
    for progress in list(known.values())[-2:]:
        outcome, steps = progress.outcome, set(progress.steps)
        is_held = "held" in steps and not {"released", "withdrawn"} & steps
        if "begun" in steps if outcome is None else is_held and outcome.value == "ok":
            raise CliError(
                f"attempt {progress.attempt} of deal {progress.deal} is not over, and its cards "
                "are in the machine: start the table (`dealtable run`) and end that deal first"
            )


@asynccontextmanager
async def open_boards(
    config: TableConfig, control: Path | None, *, settings: bool = True
) -> AsyncIterator[tuple[BoardPair, Operator]]:
    """Open both boards of a table, and yield the boards and the operator for manual steps.

    With `settings` false any settings of the boards are accepted. `control` is the control socket
    of a simulated table. The end of the `with` block stops all motion. Raises CliError.
    """
    sections = {"dealer": config.dealer, "reader": config.reader}
    ports = {board: SerialPort(of.port, of.baud) for board, of in sections.items()}
    who = expected_boards(config, own_image().hash, settings=settings)
    bench = BoardPair(ports, who, lambda: secrets.randbelow(2**32 - 1) + 1)  # type: ignore[arg-type]
    try:
        await bench.open()
        async with _choose_operator(config, control) as operator:
            yield bench, operator
    except PortBusy as error:
        raise CliError(f"{error}: stop the table first") from None
    except DriverError as error:
        known = fault(driver_error_fault(error))
        raise CliError(f"{known.code} {known.name}: {error}: {known.action()}") from None
    finally:
        bench.halt()
        await asyncio.sleep(STOP_DELAY_S)
        bench.close()


def read_card_set(config: TableConfig) -> CardSetSpec:
    """Return the card set of a table: its cards by the rulebook, its back by the configuration."""
    profile = load_profile(config.table.profile, config.table.event)
    deck = profile.deck
    back = Back[config.card_sets[0].back]
    return CardSetSpec(deck.cards, profile.hand, tuple(deck.composition()), int(back))


class TerminalOperator:
    """A person at the terminal who does manual steps. Without a terminal no step is done."""

    def __init__(self) -> None:
        self._typed = b""

    async def do(self, name: StepName, part: str = "") -> bool:
        """Ask the person to do a step. Return True if they did it, False if they cannot."""
        asked, of = operator_step(name), machine_parts().get(part)
        zh, en = ("", "") if of is None else (of.zh, of.en)
        return await self._ask(asked.zh.replace("{part}", zh), asked.en.replace("{part}", en))

    async def prepare(self, name: StepName) -> bool:
        """Ask the person to get ready. Return True if they are ready, False if they cannot."""
        asked = operator_step(name)
        return await self._ask(
            f"听到信号后立即：{asked.zh}。准备好后按 Enter",
            f"At the signal, at once: {asked.en}. Press Enter when you are ready",
        )

    async def signal(self, name: StepName) -> None:
        """Print that the person must do a step now, and make a sound."""
        asked = operator_step(name)
        click.echo(f"\a\n   现在！NOW! {asked.zh} {asked.en}\n", err=True)

    async def _ask(self, zh: str, en: str) -> bool:
        if not sys.stdin.isatty():
            return False
        # Drop earlier input: a person who pressed Enter twice has not done the next step.
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        self._typed = b""
        click.echo(f"\n=> {zh}\n   {en}\n{_ANSWER_HINT}", err=True, nl=False)
        return (await self._read_line()) not in ("skip", "s", "跳过")

    async def _read_line(self) -> str:
        """Return the next line that the person types. The loop serves the boards meanwhile."""
        loop, typed = asyncio.get_running_loop(), asyncio.Event()
        number = sys.stdin.fileno()

        def take() -> None:
            got = os.read(number, 1024)
            self._typed += got or b"skip\n"  # the terminal is closed
            typed.set()

        loop.add_reader(number, take)
        try:
            while b"\n" not in self._typed:
                await typed.wait()
                typed.clear()
        finally:
            loop.remove_reader(number)
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace").strip().lower()


@asynccontextmanager
async def _choose_operator(config: TableConfig, control: Path | None) -> AsyncIterator[Operator]:
    """Yield the operator for manual steps: a simulated person, or the person at the terminal.

    Raises CliError.
    """
    if control is None and config.panel.pins.startswith(_SIMULATED_PINS_PREFIX):
        control = Path(config.panel.pins.removeprefix(_SIMULATED_PINS_PREFIX)).with_name("control")
    if control is None or config.table.backend != "sim":
        yield TerminalOperator()
        return
    try:
        from sim.tables.table_processes import ControlClient, HallError
    except ImportError:
        raise CliError(
            "a simulated table needs the simulator: install dealtable-sim beside dealtable"
        ) from None
    people = ControlClient(str(control))
    attended = False
    try:
        attended = (await people.request("info")).get("attendant", False)
        # the simulated attendant must not act at the same time
        await people.request("attendant", on=False)
        yield SimulatedOperator(people.request)
    except HallError as error:
        raise CliError(f"{control}: {error}: name its socket with --control") from None
    finally:
        if attended:
            with suppress(HallError):
                await people.request("attendant", on=True)

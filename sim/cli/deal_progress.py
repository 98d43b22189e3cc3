"""The progress bar of `campaign` and `lab`, and their exit status after Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

EXIT_INTERRUPTED: Final = 128 + 2
"""The exit status that a shell reports for a program that Ctrl-C ended."""


@contextmanager
def show_progress(deals: int) -> Iterator[Progress]:
    """Show a progress bar for `deals` deals during the `with` block, and yield the bar."""
    console = Console(stderr=True)
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("deals, {task.fields[rate]}{task.fields[found]}, left:"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        progress.add_task("", total=deals, rate="…", found="", findings=0)
        yield progress

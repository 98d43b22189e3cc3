"""Rows of rules, as wide as there is room: side by side, or below each other."""

import os
from collections.abc import Iterable, Sequence

import click
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from controller.rules.keys import all_keys

_DEFAULT_WIDTH = 110
"""Columns where no terminal and no COLUMNS says how many there are."""
MIN_TABLE_WIDTH = 76
"""Columns with fewer of which nothing stands side by side."""

RuleRow = tuple[str, Text, Text]
"""A key, and what is shown beside it."""


class RuleRows:
    """Rows of one table; `ratios` are the widths of the two columns beside the key."""

    def __init__(
        self, rows: Iterable[RuleRow], ratios: tuple[int, int], headings: Sequence[str] = ()
    ) -> None:
        """Take what is shown; `headings` are of all three columns, or none."""
        self._rows = list(rows)
        self._ratios = ratios
        self._headings = tuple(headings)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay the rows out for the columns there are."""
        if options.max_width < MIN_TABLE_WIDTH:
            yield from self._stacked()
        else:
            yield self._table(options.max_width)

    def _stacked(self) -> Iterable[RenderableType]:
        for key, *beside in self._rows:
            yield _format_key(key)
            for heading, text in zip(self._headings[1:] or ("", ""), beside, strict=True):
                if heading:
                    yield Text(f"  {heading}:", style="dim")
                yield Padding(text, (0, 0, 0, 2))

    def _table(self, width: int) -> Table:
        """Return the rows as a table in which no key is broken."""
        table = Table(box=None, show_header=bool(self._headings), pad_edge=False, expand=True)
        first, *others = self._headings or ("", "", "")
        share = max(self._ratios) * width // (max(self._ratios) + sum(self._ratios))
        longest = max(len(key) for key, *_ in self._rows)
        table.add_column(first, width=max(longest, share), overflow="fold")
        for heading, ratio in zip(others, self._ratios, strict=True):
            table.add_column(heading, ratio=ratio, overflow="fold")
        for key, *beside in self._rows:
            table.add_row(_format_key(key), *beside)
        return table


def _format_key(key: str) -> Text:
    label = all_keys()[key].label
    return Text.assemble(f"{label.zh}  {label.en}\n", (key, "dim"))


def make_rich_console() -> Console:
    """Return a console as wide as COLUMNS says, as the terminal, or as a wide page."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return Console(width=int(told))
    console = Console()
    return console if console.is_terminal else Console(width=_DEFAULT_WIDTH)


def print_renderables(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print parts below each other; into a pipe or a file without blanks at the end of lines."""
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    text = captured.get()
    if not console.is_terminal:
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    click.echo(text, nl=False, color=console.is_terminal)

"""The console that a demo opens over its tables, and the people to try it with."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from controller.cli.console import find_missing_library, format_missing_library
from controller.client.endpoints import write_endpoints
from controller.messages import Role
from controller.trials.hall import HallError, TableProcess
from controller.trials.hall_console import ConsoleProcess, run_console

DEMO_PIN: Final = "1111"
DEMO_LOGINS: Final = {
    "chief": Role.CHIEF,
    "referee": Role.REFEREE,
    "technician": Role.TECHNICIAN,
    "observer": Role.OBSERVER,
}
"""Who may log in, all with one PIN that everybody knows: over simulated tables alone."""


@asynccontextmanager
async def open_demo_console(
    folder: Path, tables: Sequence[TableProcess], port: int | None
) -> AsyncIterator[ConsoleProcess | None]:
    """Open a console for the block and give it; None, in one line, where none opens."""
    if (library := find_missing_library()) is not None:
        click.echo(f"no console opens: {format_missing_library(library)}", err=True)
        yield None
        return
    people = [(name, role, DEMO_PIN) for name, role in DEMO_LOGINS.items()]
    async with AsyncExitStack() as stack:
        try:
            running = await stack.enter_async_context(
                run_console(tables, folder, port=port, people=people)
            )
        except HallError as error:
            click.echo(f"no console opens: {error}", err=True)
            yield None
            return
        for table in tables:
            write_endpoints(table.state_dir, replace(table.endpoints, console=running.url))
        yield running

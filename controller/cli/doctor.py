"""`dealtable doctor`: a check of all that a table needs, with the action for each problem."""

from pathlib import Path
from typing import Final

import click
import msgspec
from rich.console import Console
from rich.text import Text

from controller.cli.doctor_facts import gather_facts
from controller.cli.options import FILE
from controller.config import load_table
from controller.doctor.doctor_checks import run_checks, worst_light
from controller.doctor.examination import Examination, FindingLight, page_lines
from controller.host.printable_text import safe_line
from controller.rules.profile_files import load_profile
from controller.service.wall_clock import read_wall_clock

EPILOG: Final = """\b
Examples:
  dealtable doctor /etc/dealtable/T01.toml
  sudo dealtable doctor /etc/dealtable/T01.toml --key release.key
  dealtable doctor table.toml --json
"""
_STYLES: Final = {
    FindingLight.GREEN: "green",
    FindingLight.AMBER: "yellow",
    FindingLight.RED: "bold red",
    FindingLight.UNKNOWN: "dim",
    None: "bold",
}


@click.command(epilog=EPILOG)
@click.argument("config", type=FILE, metavar="CONFIG")
@click.option("--key", type=FILE, help="The release's .key.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(context: click.Context, config: Path, key: Path | None, as_json: bool) -> None:
    """Check the table of CONFIG, and print the actions to take on one page.

    Program, boards, computer and the table itself have one line for each check: "ok", "?" (look at
    it), "!!" (repair it) or "-" (unknown on this computer), with the next action. Boards are asked
    for their identity only while no machine runs. Root sees more than other users. Nothing is moved
    or changed.

    Exit 0: the table can deal; 1: something prevents it; 2: a file cannot be used.
    """
    table = load_table(config)
    load_profile(table.table.profile, table.table.event)
    findings = run_checks(table, gather_facts(table, config, key))
    examination = Examination(
        table=table.table.id,
        simulated=table.table.backend == "sim",
        time=read_wall_clock(),
        verdict=worst_light(findings),
        findings=findings,
    )
    if as_json:
        click.echo(msgspec.json.encode(examination).decode())
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line, light in page_lines(examination):
            console.print(Text(safe_line(line), style=_STYLES[light]))
    context.exit(1 if examination.verdict is FindingLight.RED else 0)

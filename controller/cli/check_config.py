"""`dealtable check-config`: all that configuration files alone show."""

import tomllib
from pathlib import Path

import click

from controller.config import TableConfig, load_sim, load_table
from controller.rules.profile import rules_of
from controller.rules.rulebooks import load_profile
from controller.tomlfile import FileError


@click.command
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
def command(files: tuple[Path, ...]) -> None:
    """Check each FILE, a table.toml or a sim.toml, and say what is wrong with it.

    Opens no port and makes no folder. Exit 2 if any file is wrong.
    """
    wrong = False
    for file in files:
        try:
            click.echo(f"{file}: {_check(file)}")
        except FileError as error:
            wrong = True
            click.echo(f"Error: {error}", err=True)
    if wrong:
        raise SystemExit(2)


def _check(file: Path) -> str:
    """Return a line that says what the file sets up. Raises FileError."""
    if _is_for_sim(file):
        sim = load_sim(file)
        return f"simulated table {sim.sim.id}, wear {sim.mechanics.wear}, {len(sim.faults)} faults"
    config = load_table(file)
    return f"table {config.table.id}, {_boards(config)}, {_profile(config)}"


def _is_for_sim(file: Path) -> bool:
    try:
        keys = tomllib.loads(file.read_text(encoding="utf-8")).keys()
    except (OSError, ValueError):
        return False  # load_table says what is wrong
    return "table" not in keys and bool(keys & {"sim", "mechanics", "fault"})


def _boards(config: TableConfig) -> str:
    kind = "simulated" if config.table.backend == "sim" else "real"
    return f"{kind} boards at {config.dealer.port} and {config.reader.port}"


def _profile(config: TableConfig) -> str:
    profile = load_profile(config.table.profile)
    open_rules, rules = len(profile.provisional), len(rules_of(profile))
    hint = f"{open_rules} of {rules} rules provisional: dealtable rules {profile.name}"
    return f"profile {profile.name}" + (f" ({hint})" if open_rules else "")

"""`dealtable check-config`: checks of configuration files. It needs no running table."""

from contextlib import suppress
from pathlib import Path

import click

from controller.cards import FACE_COUNT
from controller.cli import CliError
from controller.cli.adapter_files import BACKS, load_barcode_file
from controller.cli.options import ANY_PATH
from controller.config import load_sim, load_table
from controller.console.console_config import load_console_config as load_console
from controller.host.toml_files import FileError, parse_tables, read_text
from controller.rules.profile import rules_by_key
from controller.rules.profile_files import load_profile
from controller.service.process_users import check_separation

EPILOG = """\b
Examples:
  dealtable check-config table.toml
  dealtable check-config table.toml sim.toml event.toml console.toml
"""


@click.command(epilog=EPILOG)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=ANY_PATH)
def command(files: tuple[Path, ...]) -> None:
    """Check each configuration FILE. Print what is wrong, or one line about what it sets up.

    A FILE is a table.toml, sim.toml, console.toml, barcode.toml, or the regulations of an event. No
    port is opened and no folder is created. If a file names two users, permissions that would give
    the gateway's user access to the machine's files are reported. Exit 2 if any file is wrong.
    """
    wrong = False
    for file in files:
        try:
            click.echo(f"{file}: {_describe_file(file)}")
        except (FileError, CliError) as error:
            wrong = True
            click.echo(f"Error: {error}", err=True)
    if wrong:
        raise SystemExit(2)


def _describe_file(file: Path) -> str:
    """Return one line about what a configuration file sets up. Raises FileError."""
    keys: set[str] = set()
    with suppress(FileError):  # load_table reports the error
        keys = set(parse_tables(read_text(file), name=str(file)))
    if "table" in keys:
        return _describe_table(file)
    if keys & {"sim", "mechanics", "fault"}:
        sim = load_sim(file)
        return f"simulated table {sim.sim.id}, wear {sim.mechanics.wear}, {len(sim.faults)} faults"
    if {"profile", "organizer"} <= keys:
        return _describe_event(file)
    if "console" in keys:
        return _describe_console(file)
    return (_describe_barcode if {"adapter", "engine"} <= keys else _describe_table)(file)


def _describe_table(file: Path) -> str:
    config = load_table(file)
    check_separation(config, file)
    kind = "simulated" if config.table.backend == "sim" else "real"
    asked = " (no trigger wire)" if config.reader.trigger == "asked" else ""
    boards = f"{kind} boards at {config.dealer.port} and {config.reader.port}{asked}"
    named = ", ".join(f"{card_set.id} (back {card_set.back})" for card_set in config.card_sets)
    sets = "set" if len(config.card_sets) == 1 else "sets"
    ahead = ", dealing ahead" if config.play.deal_ahead else ""
    profile = load_profile(config.table.profile, config.table.event)
    event, words = "", profile.name
    if profile.event is not None:
        event, words = f" for {profile.event.title_en}", f"{words} --event {config.table.event}"
    open_rules, rules = len(profile.provisional), len(rules_by_key(profile))
    hint = f" ({open_rules} of {rules} rules provisional: dealtable rules {words})"
    users = ""
    if config.gateway.user is not None:
        users = f", machine as {config.table.user}, gateway as {config.gateway.user}"
    return (
        f"table {config.table.id}, {boards}, {sets} {named}{ahead}, "
        f"profile {profile.name}{event}{hint if open_rules else ''}{users}"
    )


def _describe_event(file: Path) -> str:
    """Return one line about the regulations of a tournament. Their file names the rulebook."""
    name = parse_tables(read_text(file), name=str(file))["profile"]
    profile = load_profile(str(name), file)
    assert profile.event is not None  # the file is an event's
    settled, left = len(profile.event.settled), len(profile.provisional)
    return (
        f"event {profile.event.title_en}, profile {profile.name}: {settled} rules settled, "
        f"{left} provisional: dealtable rules {profile.name} --regulations --event {file}"
    )


def _describe_console(file: Path) -> str:
    """Return one line about a console.toml and the tables.toml in the same folder."""
    config = load_console(file)
    own, tables = config.console, config.tables
    seals = "TLS" if own.tls_cert is not None else "plain HTTP"
    warns = ": PINs cross the network unsealed" if own.is_unencrypted_on_network else ""
    noun = "table" if len(tables) == 1 else "tables"
    areas = ", ".join(sorted({table.area for table in tables}))
    where = f" in {areas}" if areas else ""
    return f"console {own.name} at {own.listen}, {seals}{warns}, {len(tables)} {noun}{where}"


def _describe_barcode(file: Path) -> str:
    """Return one line about a barcode.toml, with the number of faces that have a code."""
    profile = load_barcode_file(file)
    backs = " and ".join(
        f"{FACE_COUNT - len(profile.faces_without_code(back))} of {FACE_COUNT} faces of back {back}"
        for back in BACKS
    )
    return f"barcode reader {profile.adapter.id} at {profile.adapter.link}, codes for {backs}"

"""The `dealtable` command: a table of commands, each imported only when it is called."""

import difflib
import errno
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple, NoReturn

import click


class CommandEntry(NamedTuple):
    """One command: the module that defines `command`, and its line in the help."""

    module: str
    help: str
    needs_sim: bool = False


COMMAND_ENTRIES = {
    "demo": CommandEntry("sim.cli.demo", "Simulated tables, all in one.", needs_sim=True),
    "run": CommandEntry("controller.cli.run", "Run a table: its machine and its gateway."),
    "sim": CommandEntry("sim.cli.sim", "Simulated boards alone, on ptys.", needs_sim=True),
    "adapter": CommandEntry(
        "controller.cli.adapter", "Bought parts in a board's place: reader, drives."
    ),
    "console": CommandEntry("controller.cli.console", "The referees' console, in a browser."),
    "watch": CommandEntry("controller.cli.watch", "Follow tables' feeds."),
    "send": CommandEntry("controller.cli.send", "Send a table a command."),
    "sheet": CommandEntry("controller.cli.sheet", "Print the score sheet of a table's match."),
    "transfer": CommandEntry("controller.cli.transfer", "Move a match to another table."),
    "verify": CommandEntry("controller.cli.verify", "Check a journal: chain, proofs, counts."),
    "open": CommandEntry("controller.cli.open", "Open an attempt that only the chief can."),
    "wire": CommandEntry("controller.cli.wire", "A recording of the serial lines, in words."),
    "bundle": CommandEntry("controller.cli.bundle", "A diagnostics archive without secrets."),
    "check-config": CommandEntry("controller.cli.check_config", "Check configuration files."),
    "judge": CommandEntry(
        "controller.cli.judge", "Rule on combinations: what is it, is it legal, why."
    ),
    "rules": CommandEntry("controller.cli.rules", "The rulebooks, and what an event must settle."),
    "deploy": CommandEntry("controller.cli.deploy", "What a table's computer is told about it."),
    "keys": CommandEntry("controller.cli.keys", "Make keys, admit and list clients."),
    "doctor": CommandEntry(
        "controller.cli.doctor", "What a table needs, green or red, and what to do."
    ),
    "flash": CommandEntry("controller.cli.flash", "Put the firmware on a board."),
    "selftest": CommandEntry("controller.cli.selftest", "Is this machine fit to deal: measure it."),
    "calibrate": CommandEntry("controller.cli.calibrate", "Set a part of the machine right."),
    "health": CommandEntry(
        "controller.cli.health", "What wears, and what to clean or replace when."
    ),
    "release": CommandEntry("controller.cli.release", "What was released, and is it installed."),
    "schema": CommandEntry("controller.cli.schema", "JSON Schemas of all public messages."),
    "campaign": CommandEntry(
        "sim.cli.campaign", "Thousands of simulated deals with faults.", needs_sim=True
    ),
    "lab": CommandEntry("sim.cli.lab", "Collect deals, and test them as a test house does."),
    "bench": CommandEntry("sim.cli.bench", "Measure figures against their floors.", needs_sim=True),
}


class CliError(click.ClickException):
    """Bad usage or a bad configuration: one line on stderr, exit 2."""

    exit_code = 2

    def format_message(self) -> str:
        """Return the line, with every character replaced that could break it or control the
        terminal.
        """
        return "".join(char if char.isprintable() else "·" for char in self.message)


@contextmanager
def raise_cli_error(*types: type[Exception]) -> Iterator[None]:
    """Raise CliError with the same text instead of an error of these types in the block."""
    try:
        yield
    except types as error:
        raise CliError(str(error)) from error


_EXIT_PIPE_CLOSED = 128 + 13
"""Exit status in a shell of a program that wrote to a closed pipe (SIGPIPE)."""


class LazyGroup(click.Group):
    """A group that lists its commands from the table, and imports a command only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of the table."""
        return list(COMMAND_ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name. Raises CliError if it needs a missing simulator."""
        entry = COMMAND_ENTRIES.get(cmd_name)
        if entry is None:
            return None
        if entry.needs_sim and importlib.util.find_spec("sim") is None:
            raise CliError(
                f"dealtable {cmd_name} needs the simulator: install dealtable-sim beside dealtable"
            )
        command = importlib.import_module(entry.module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command. The error for an unknown name contains the most similar name."""
        close = difflib.get_close_matches(args[0], COMMAND_ENTRIES, n=1)
        if args[0] not in COMMAND_ENTRIES and close:
            ctx.fail(f'there is no command "{args[0]}", did you mean "{close[0]}"?')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMAND_ENTRIES.items()])

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line. A failure of the output exits with 2.

        A character that the encoding lacks is written as its number, \\u2660. Exit status 1 is
        a finding of some commands, and must not be used for errors.
        """
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **extra)
        except OSError as failure:
            _exit_if_output_failed(failure)
            raise
        finally:
            # here, because a failure while the interpreter exits cannot be reported
            _exit_if_output_unwritten()

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. A file that cannot be used counts as bad usage."""
        try:
            return super().invoke(ctx)
        except OSError as failure:
            _exit_if_output_failed(failure)
            raise
        except Exception as error:
            from controller.host.toml_files import (
                FileError,  # imported late, so that the help is fast
            )

            if isinstance(error, FileError):
                raise CliError(str(error)) from None
            raise


def _exit_if_output_unwritten() -> None:
    """Exit if the rest of the output cannot be written."""
    for stream in (sys.stderr, sys.stdout):
        try:
            if stream is not None:
                stream.flush()
        except OSError as failure:
            _redirect_to_null(stream)
            _exit_for_failed_output(failure)


def _exit_if_output_failed(error: OSError) -> None:
    """Exit if an error comes from the output, and return for any other error."""
    _exit_if_output_unwritten()
    if _is_output_failure(error):
        _exit_for_failed_output(error)


def _is_output_failure(error: OSError) -> bool:
    """Return True if the error comes from code that writes to the terminal: here, in click or in
    rich.
    """
    module, trace = "", error.__traceback__
    while trace is not None:
        module, trace = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_next
    return error.filename is None and module.startswith((__name__, "click.", "rich."))


def _exit_for_failed_output(error: OSError) -> NoReturn:
    """Exit with 2 and one line, or silently if the reader of a pipe is gone."""
    if error.errno == errno.EPIPE:
        raise SystemExit(_EXIT_PIPE_CLOSED)
    with suppress(OSError):
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
    raise SystemExit(CliError.exit_code)


def _redirect_to_null(stream: IO[str]) -> None:
    """Redirect a stream to the null device, so that its rest causes no error at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dealtable")
def main() -> None:
    """The controller of an automatic dealing table for Guandan."""

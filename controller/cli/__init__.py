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
    """One command: its line in the help, and the package of the module that defines `command`.

    The module is PACKAGE.cli.NAME. The package "sim" is a distribution of its own.
    """

    help: str
    package: str = "controller"


COMMAND_ENTRIES = {
    "demo": CommandEntry("Simulated tables, all in one.", package="sim"),
    "run": CommandEntry("Run a table: its machine and its gateway."),
    "sim": CommandEntry("Simulated boards alone, on ptys.", package="sim"),
    "adapter": CommandEntry("Bought parts in a board's place: reader, drives."),
    "console": CommandEntry("The referees' console, in a browser."),
    "watch": CommandEntry("Follow tables' feeds."),
    "send": CommandEntry("Send a table a command."),
    "sheet": CommandEntry("Print the score sheet of a table's match."),
    "transfer": CommandEntry("Move a match to another table."),
    "verify": CommandEntry("Check a journal: chain, proofs, counts."),
    "open": CommandEntry("Open an attempt that only the chief can."),
    "wire": CommandEntry("A recording of the serial lines, in words."),
    "bundle": CommandEntry("A diagnostics archive without secrets."),
    "check-config": CommandEntry("Check configuration files."),
    "judge": CommandEntry("Rule on combinations: what is it, is it legal, why."),
    "rules": CommandEntry("The rulebooks, and what an event must settle."),
    "deploy": CommandEntry("Print system files for a table's computer."),
    "keys": CommandEntry("Make keys, admit and list clients."),
    "doctor": CommandEntry("What a table needs, green or red, and what to do."),
    "flash": CommandEntry("Put the firmware on a board."),
    "selftest": CommandEntry("Is this machine fit to deal: measure it."),
    "calibrate": CommandEntry("Set a part of the machine right."),
    "health": CommandEntry("What wears, and what to clean or replace when."),
    "release": CommandEntry("What was released, and is it installed."),
    "schema": CommandEntry("JSON Schemas of all public messages."),
    "campaign": CommandEntry("Thousands of simulated deals with faults.", package="sim"),
    "lab": CommandEntry("Collect deals, and test them as a test house does.", package="sim"),
    "bench": CommandEntry("Measure figures against their floors.", package="sim"),
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
        if entry.package == "sim" and importlib.util.find_spec("sim") is None:
            raise CliError(
                f"dealtable {cmd_name} needs the simulator: install dealtable-sim beside dealtable"
            )
        module = f"{entry.package}.cli.{cmd_name.replace('-', '_')}"
        command = importlib.import_module(module).command
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

"""The `dealtable` command. Its subcommands are imported only when they are called."""

import difflib
import errno
import importlib
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

COMMAND_ENTRIES = {
    "demo": "Simulated tables, all in one.",
    "run": "Run a table: its machine and its gateway.",
    "sim": "Simulated boards alone, on ptys.",
    "adapter": "Bought parts in a board's place: reader, drives.",
    "console": "The referees' console, in a browser.",
    "watch": "Follow tables' feeds.",
    "send": "Send a table a command.",
    "sheet": "Print the score sheet of a table's match.",
    "transfer": "Move a match to another table.",
    "verify": "Check a journal: chain, proofs, counts.",
    "open": "Open an attempt that only the chief can.",
    "wire": "A recording of the serial lines, in words.",
    "bundle": "A diagnostics archive without secrets.",
    "check-config": "Check configuration files.",
    "judge": "Rule on combinations: what is it, is it legal, why.",
    "rules": "The rulebooks, and what an event must settle.",
    "deploy": "Print system files for a table's computer.",
    "keys": "Make keys, admit and list clients.",
    "doctor": "What a table needs, green or red, and what to do.",
    "flash": "Put the firmware on a board.",
    "selftest": "Is this machine fit to deal: measure it.",
    "calibrate": "Set a part of the machine right.",
    "health": "What wears, and what to clean or replace when.",
    "release": "What was released, and is it installed.",
    "schema": "JSON Schemas of all public messages.",
    "campaign": "Thousands of simulated deals with faults.",
    "lab": "Collect deals, and test them as a test house does.",
    "bench": "Measure figures against their floors.",
}
"""The commands of `dealtable`, with their lines in the help text. The module PACKAGE.cli.NAME
defines `command`.
"""
SIM_COMMANDS = frozenset({"demo", "sim", "campaign", "lab", "bench"})
"""The commands of the package "sim", which is a distribution of its own. The package of the others
is "controller".
"""


class CliError(click.ClickException):
    """An error in usage or configuration. The program prints one line on stderr and exits 2."""

    exit_code = 2

    def format_message(self) -> str:
        """Return the error's message on one line. A dot replaces every character that could break
        the line or control the terminal.
        """
        return "".join(char if char.isprintable() else "·" for char in self.message)


@contextmanager
def raise_cli_error(*types: type[Exception]) -> Iterator[None]:
    """Raise CliError with the same text if the `with` block raises an error of one of `types`."""
    try:
        yield
    except types as error:
        raise CliError(str(error)) from error


class LazyGroup(click.Group):
    """A group of click commands that imports the module of a command only to run that command. The
    commands are those of COMMAND_ENTRIES.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of COMMAND_ENTRIES."""
        return list(COMMAND_ENTRIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command `cmd_name`, or return None for an unknown name. Raises
        CliError if the command needs the simulator, and the simulator is not installed.
        """
        if cmd_name not in COMMAND_ENTRIES:
            return None
        package = "sim" if cmd_name in SIM_COMMANDS else "controller"
        if package == "sim" and importlib.util.find_spec("sim") is None:
            raise CliError(
                f"dealtable {cmd_name} needs the simulator: install dealtable-sim beside dealtable"
            )
        module = f"{package}.cli.{cmd_name.replace('-', '_')}"
        command = importlib.import_module(module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command's name (`args[0]`), the command itself, and the other arguments.
        The error for an unknown name contains the most similar name.
        """
        close = difflib.get_close_matches(args[0], COMMAND_ENTRIES, n=1)
        if args[0] not in COMMAND_ENTRIES and close:
            ctx.fail(f'there is no command "{args[0]}", did you mean "{close[0]}"?')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands and their help lines into the help text."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMAND_ENTRIES.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        r"""Run the command that the command line names. Exit with 2 if output cannot be written.

        A character that the encoding does not have is written as its number, such as \u2660. Exit
        status 1 is a finding of some commands, and must not be used for errors.
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
        """Run the command, and turn a FileError (an unusable file) into a CliError."""
        try:
            return super().invoke(ctx)
        except OSError as failure:
            _exit_if_output_failed(failure)
            raise
        except Exception as error:
            # imported late, so that the help is fast
            from controller.host.toml_files import FileError

            if isinstance(error, FileError):
                raise CliError(str(error)) from None
            raise


def _exit_if_output_unwritten() -> None:
    """Write all buffered output to stderr and stdout, and exit the program if that fails."""
    for stream in (sys.stderr, sys.stdout):
        try:
            if stream is not None:
                stream.flush()
        except OSError as failure:
            # text that is still in the buffer must not cause another error at exit
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())
            _exit_for_failed_output(failure)


def _exit_if_output_failed(error: OSError) -> None:
    """Exit the program if `error` came from writing the output. Return for any other error."""
    _exit_if_output_unwritten()
    if _is_output_failure(error):
        _exit_for_failed_output(error)


def _is_output_failure(error: OSError) -> bool:
    """Return True if this module, click or rich raised `error` while it wrote output."""
    module, trace = "", error.__traceback__
    while trace is not None:
        module, trace = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_next
    return error.filename is None and module.startswith((__name__, "click.", "rich."))


def _exit_for_failed_output(error: OSError) -> NoReturn:
    """Print one line about the failed output and exit with status 2.

    If the reader of a pipe has closed it, print nothing and exit as the signal SIGPIPE would do.
    """
    if error.errno == errno.EPIPE:
        raise SystemExit(128 + signal.SIGPIPE)  # as in a shell
    with suppress(OSError):
        click.echo(f"Error: the output cannot be written: {error.strerror}", err=True)
    raise SystemExit(CliError.exit_code)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dealtable")
def main() -> None:
    """The controller of an automatic dealing table for Guandan."""

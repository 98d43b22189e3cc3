"""The `dealtable` command: a table of commands, each imported when it is called."""

import difflib
import importlib
import importlib.util
from typing import NamedTuple

import click


class Entry(NamedTuple):
    """One command: the module that holds it as `command`, and what the help says of it."""

    module: str
    help: str
    needs_sim: bool = False


COMMANDS = {
    "demo": Entry("controller.cli.demo", "Simulated tables, all in one.", needs_sim=True),
    "run": Entry("controller.cli.run", "Run a table: its machine and its gateway."),
    "sim": Entry("controller.cli.sim", "Simulated boards alone, on ptys.", needs_sim=True),
    "watch": Entry("controller.cli.watch", "Follow tables' feeds."),
    "send": Entry("controller.cli.send", "Send a table a command."),
    "verify": Entry("controller.cli.verify", "Check a journal: chain, proofs, counts."),
    "check-config": Entry("controller.cli.check_config", "Check configuration files."),
    "judge": Entry("controller.cli.judge", "Rule on combinations: what is it, is it legal, why."),
    "rules": Entry("controller.cli.rules", "The rulebooks, and what an event must settle."),
    "keys": Entry("controller.cli.keys", "Make keys, admit and list clients."),
    "schema": Entry("controller.cli.schema", "JSON Schemas of all public messages."),
    "bench": Entry("controller.cli.bench", "Measure figures against their floors.", needs_sim=True),
}


class LineError(click.ClickException):
    """Bad usage or a bad configuration: one line on stderr, exit 2."""

    exit_code = 2


class LazyGroup(click.Group):
    """Shows its commands from the table, and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; raises LineError where it needs what is not there."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        if entry.needs_sim and importlib.util.find_spec("sim") is None:
            raise LineError(
                f"dealtable {cmd_name} needs the simulator: install dealtable-sim beside dealtable"
            )
        command = importlib.import_module(entry.module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped one is told its likeliest name."""
        close = difflib.get_close_matches(args[0], COMMANDS, n=1)
        if args[0] not in COMMANDS and close:
            ctx.fail(f'there is no command "{args[0]}", did you mean "{close[0]}"?')
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a file that cannot be used is bad usage."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            from controller.tomlfile import FileError  # not before it is needed: the help is fast

            if isinstance(error, FileError):
                raise LineError(str(error)) from None
            raise


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dealtable")
def main() -> None:
    """The controller of an automatic dealing table for Guandan."""

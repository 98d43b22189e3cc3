"""Types and checks of options on the command line: paths, numbers and writable files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from controller.cli import CliError

Function = TypeVar("Function", bound=Callable[..., Any])

ANY_PATH: Final = click.Path(path_type=Path)
FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)
PRESENT_FILE: Final = click.Path(path_type=Path, dir_okay=False, exists=True)
PRESENT_FOLDER: Final = click.Path(path_type=Path, file_okay=False, exists=True)


class WholeNumber(click.IntRange):
    """The type of an option whose value is a whole number within bounds."""

    name = "whole number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the placeholder that the help shows for the value."""
        return "N"


class DecimalNumber(click.FloatRange):
    """The type of an option whose value is a decimal number within bounds."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the placeholder that the help shows for the value."""
        return "X"


def language_option(subject: str) -> Callable[[Function], Function]:
    """Return a decorator that adds the option --language (English or Chinese) to a command.

    `subject` is the part of the help that names the output to which the option applies.
    """
    return click.option(
        "--language",
        type=click.Choice(["en", "zh"]),
        default="en",
        show_default=True,
        help=f"Of {subject}. 中文用 zh.",
    )


def require_writable(path: Path) -> None:
    """Raise CliError unless this user can write or create the file `path`. Links are followed."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise CliError(f"{path}: there is no folder {folder}")
    is_loop = target.is_symlink()  # only a loop of links still ends in a link
    if is_loop or not os.access(target if target.exists() else folder, os.W_OK):
        raise CliError(f"{path}: cannot be written by this user")

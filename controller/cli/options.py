"""Numbers on the command line, and what is said of what is none."""

import os
from pathlib import Path

import click

from controller.cli import CliError


class WholeNumber(click.IntRange):
    """A whole number within bounds."""

    name = "whole number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for it in the help."""
        return "N"


class DecimalNumber(click.FloatRange):
    """A number within bounds."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for it in the help."""
        return "X"


def require_writable(path: Path) -> None:
    """Return if a file can be written in the end, where a symbolic link leads. Raises LineError."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise CliError(f"{path}: there is no folder {folder}")
    is_loop = target.is_symlink()  # of links that lead to each other
    if is_loop or not os.access(target if target.exists() else folder, os.W_OK):
        raise CliError(f"{path}: cannot be written by this user")

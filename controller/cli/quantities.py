"""Numbers on the command line, and what is said of what is none."""

import click


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

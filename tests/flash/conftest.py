"""Chips that can be flashed."""

from tests.flash.chip_on_pty import chip

__all__ = ["chip"]

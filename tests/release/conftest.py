"""What tests of releases share: a small program to release."""

from tests.release.small_program import program

__all__ = ["program"]

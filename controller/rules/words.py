"""Text for people, in both languages of a hall."""

from controller.words import Words

__all__ = ["Words"]

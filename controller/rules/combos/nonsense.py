"""Questions that cannot be judged, said in one line for the people who typed them."""

import unicodedata

from controller.words import Words


class QuestionError(ValueError):
    """What was asked cannot be judged; `words` is one line for people, str() the English."""

    def __init__(self, en: str, zh: str) -> None:
        """Say in both languages what is wrong."""
        super().__init__(en)
        self.words = Words(en, zh)


class NotationError(QuestionError):
    """A play is not written as one; its text is one line, `place` counts signs from 1."""

    def __init__(self, text: str, begin: int, end: int, says: Words) -> None:
        """Say what is wrong with `text[begin:end]`; an empty part is not pointed at."""
        self.place = place_of(text, begin)
        part = printable_text(text[begin:end])
        en = f'"{printable_text(text)}": place {self.place}, "{part}": ' if part else ""
        zh = f"“{printable_text(text)}”第{self.place}个字符“{part}”：" if part else ""
        super().__init__(en + says.en, zh + says.zh)


def printable_text(text: str) -> str:
    """Return what somebody typed, fit for one line: a dot for each character that is no sign."""
    return "".join(char if char.isprintable() else "·" for char in text)


def place_of(text: str, index: int) -> int:
    """Return the place of a character as a person counts: what changes the sign before it is none.

    Such is the selector that a telephone's keyboard puts behind ♠.
    """
    return 1 + sum(unicodedata.category(char) not in ("Mn", "Me") for char in text[:index])

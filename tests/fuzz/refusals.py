"""How something may be refused: in one line that a person can read, and a terminal can print."""

from controller.host.printable_text import is_printable

LONGEST_LINE = 1000


def a_word(error: Exception | str) -> None:
    """Fail where a refusal says nothing."""
    assert str(error), "a refusal without a word"


def one_line(error: Exception | str, most: int = LONGEST_LINE) -> None:
    """Fail where a refusal is empty, very long, or would break or steer a terminal's line."""
    text = str(error)
    a_word(text)
    assert all(map(is_printable, text)), repr(text)
    assert len(text) <= most, len(text)

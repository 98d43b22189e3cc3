"""Who gave an order, in the words that rows and people read: a person, and the key in his hand."""

import re
from typing import Final

from controller.words import ROLE_WORDS, Words


def signer_text(name: str, person: str | None) -> str:
    """Return the name of a key's certificate, behind the person's who said that it is his."""
    return name if person is None else f"{person} ({name})"


def names_in_signer_text(by: object) -> frozenset[str]:
    """Return the names, of a person and of a key, in what `signed_by` says; none in no text.

    Each is without what makes two spellings of one name: case, and the width of its spaces.
    """
    if not isinstance(by, str):
        return frozenset()
    both = _PERSON_AND_KEY.fullmatch(by)
    told = (by,) if both is None else both.groups()
    return frozenset(" ".join(name.split()).casefold() for name in told)


def signer_words(by: object) -> Words:
    """Return the same for people: "Li Na (referee)" with the role that a key is named after."""
    both = _PERSON_AND_KEY.fullmatch(str(by))
    if both is None:
        return _key_name_words(by)
    return Words(str(by), f"{both[1]}（{_key_name_words(both[2]).zh}）")


def decided_by_words(by: object, entered_by: object = None) -> Words:
    """Return whose word it was; where it came by mouth, also who entered it as the chief's."""
    if entered_by is None:
        return signer_words(by)
    there = signer_words(entered_by)
    return Words(
        f"{by} (chief, by word), entered by {there.en}", f"裁判长{by}（口头），{there.zh}录入"
    )


def _key_name_words(name: object) -> Words:
    """Return the name of a key for people; a console's key is "Hall-1-referee"."""
    whole = str(name)
    console, _, role = whole.rpartition("-")
    if console and role in ROLE_WORDS:
        return Words(whole, f"{console} {ROLE_WORDS[role].zh}")
    return ROLE_WORDS.get(whole) or Words(whole, whole)


_PERSON_AND_KEY: Final = re.compile(r"([^()]+) \(([^()]+)\)")
"""Neither name has brackets."""

"""The fault catalogue (faults.toml): all faults, each with name, code, cause and action."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from controller.words import Words

Language = Literal["en", "zh"]
Evidence = Mapping[str, object]
"""Known values. Each key is the name of the placeholder that the value fills.

A value of type Words is rendered in the reader's language.
"""


class CatalogueFault(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One fault of the catalogue, with its cause and action. faults.toml describes each field."""

    code: int
    name: str
    fault_class: Literal["transient", "operator", "service"] = msgspec.field(name="class")
    misdeal: bool
    counts_hold: bool
    cause_en: str
    action_en: str
    cause_zh: str
    action_zh: str

    def cause(self, evidence: Evidence | None = None, language: Language = "en") -> str:
        """Return the cause in `language`, with the values of `evidence` in its placeholders."""
        text = self.cause_zh if language == "zh" else self.cause_en
        return _render(text, evidence or {}, language)

    def action(self, evidence: Evidence | None = None, language: Language = "en") -> str:
        """Return the action in `language`, with the values of `evidence` in its placeholders."""
        text = self.action_zh if language == "zh" else self.action_en
        return _render(text, evidence or {}, language)


def fault(name: str) -> CatalogueFault:
    """Return the catalogue's fault with this name. Raises LookupError if there is none."""
    try:
        return fault_catalogue()[name]
    except KeyError:
        raise LookupError(f"no fault is called {name}") from None


@cache
def fault_catalogue() -> Mapping[str, CatalogueFault]:
    """Return {name: fault} of the whole catalogue, in the order of the fault codes."""
    return {row.name: row for row in _read_catalogue().fault}


def driver_error_fault(error: BaseException) -> str:
    """Return the name of the fault for an error that the code in `drivers` raised.

    Raises LookupError for an error that is not from the drivers.
    """
    for kind in type(error).__mro__:
        if kind.__name__ in _FAULT_BY_DRIVER_ERROR:
            return _FAULT_BY_DRIVER_ERROR[kind.__name__]
    raise LookupError(f"{type(error).__name__} is no error of the drivers")


# Keys are the names of the error types, so that the catalogue does not import a driver.
_FAULT_BY_DRIVER_ERROR = {
    "PortMissing": "PORT_MISSING",
    "PortBusy": "PORT_BUSY",
    "BoardSilent": "BOARD_SILENT",
    "LineLost": "LINE_LOST",
    "SessionRenewed": "LINE_LOST",
    "BoardReset": "BOARD_RESET",
    "BoardRefused": "BOARD_REFUSED",
    "WrongBoard": "WRONG_BOARD",
    "WrongKind": "WRONG_KIND",
    "BoardsSwapped": "BOARDS_SWAPPED",
    "WrongProtocol": "WRONG_PROTOCOL",
    "WrongFirmware": "WRONG_FIRMWARE",
    "WrongSettings": "WRONG_SETTINGS",
    "BackendMismatch": "BACKEND_MISMATCH",
    "PanelLost": "PANEL_LOST",
}


class _CatalogueFile(msgspec.Struct, frozen=True):
    words: dict[Language, dict[str, dict[str, str]]]
    fault: list[CatalogueFault]


@cache
def _read_catalogue() -> _CatalogueFile:
    data = resources.files("controller").joinpath("faults.toml").read_bytes()
    return msgspec.toml.decode(data, type=_CatalogueFile)


_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def _render(text: str, evidence: Evidence, language: Language) -> str:
    """Return `text` with values in its placeholders.

    Placeholders are inside brackets. A part in brackets is left out if `evidence` lacks a value.
    """
    words = _read_catalogue().words[language]

    def word(match: re.Match[str]) -> str:
        known = evidence[match[1]]
        if isinstance(known, Words):
            return known.zh if language == "zh" else known.en
        value = str(known)
        return words.get(match[1], {}).get(value, value)

    def part(match: re.Match[str]) -> str:
        known = all(name in evidence for name in _PLACEHOLDER.findall(match[1]))
        return _PLACEHOLDER.sub(word, match[1]) if known else ""

    return _OPTIONAL.sub(part, text)

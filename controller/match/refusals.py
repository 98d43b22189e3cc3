"""Why a match refuses an event: a name of the fault catalogue, and what it is about."""

from typing import NoReturn

import msgspec

from controller.faults import Fault, Language, fault


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """One refusal. `code`: its name in the catalogue; `what`: the place or value in question.

    `legal`: what would be legal instead, where that can be said.
    """

    code: str
    what: str = ""
    legal: str = ""

    @property
    def fault(self) -> Fault:
        """Return its row of the catalogue, with cause and action in both languages."""
        return fault(self.code)

    def text(self, language: Language = "en") -> str:
        """Return it in one line: what is wrong, and what to do."""
        evidence = {"found": self.what, "expected": self.legal}
        known = {name: value for name, value in evidence.items() if value}
        stop = "。" if language == "zh" else ". "
        return stop.join([self.fault.cause(known, language), self.fault.action(known, language)])


class RefusedError(Exception):
    """An event cannot be: raised by what handles it, told as an effect by `step`."""

    def __init__(self, refusal: Refusal) -> None:
        """Keep the refusal."""
        super().__init__(refusal.code)
        self.refusal = refusal


def refuse(code: str, what: str = "", legal: str = "") -> NoReturn:
    """Refuse the event at hand. Raises RefusedError."""
    raise RefusedError(Refusal(code, what, legal))

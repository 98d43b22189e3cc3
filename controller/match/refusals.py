"""The reasons why a match refuses an event: a name in the fault catalogue, and the evidence."""

from typing import NoReturn

import msgspec

from controller.faults import CatalogueFault, Language, fault
from controller.rules.deal_result import FinishError
from controller.seats import SIGNER_NAMES
from controller.words import Words


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """The reason why a match refuses an event.

    `code` is its name in the fault catalogue, `subject` the place or value in question. `expected`
    is what would be legal instead, if that can be stated.
    """

    code: str
    subject: str | Words = ""
    expected: str | Words = ""

    @property
    def fault(self) -> CatalogueFault:
        """Return the entry of the fault catalogue, with cause and action in both languages."""
        return fault(self.code)

    @property
    def evidence(self) -> dict[str, str | Words]:
        """Return the evidence of the refusal, with names of seats and sides in both languages."""
        known = {"found": self.subject, "expected": self.expected}
        return {name: _with_seat_names(value) for name, value in known.items() if value}

    def text(self, language: Language = "en") -> str:
        """Return the refusal as one line of text: the cause and the action."""
        known = self.evidence
        stop = "。" if language == "zh" else ". "
        return stop.join([self.fault.cause(known, language), self.fault.action(known, language)])


class RefusedError(Exception):
    """The error for an event that the match refuses, because the event is not possible now.

    Handlers raise it; `step` returns it as an effect.
    """

    def __init__(self, refusal: Refusal) -> None:
        """Store the refusal."""
        super().__init__(refusal.code)
        self.refusal = refusal


def refuse(code: str, subject: str | Words = "", expected: str | Words = "") -> NoReturn:
    """Raise RefusedError with the fault `code`, so that the match refuses the event."""
    raise RefusedError(Refusal(code, subject, expected))


def refuse_finish(why: FinishError | Words) -> NoReturn:
    """Raise RefusedError with the fault NO_FINISH_ORDER, for the reason `why`."""
    refuse("NO_FINISH_ORDER", why.words if isinstance(why, FinishError) else why, _FINISH_WORDS)


_FINISH_WORDS = Words(
    "who went out, first to last: two after a double-down, else three",
    "按出完先后点座位，双下两家，否则三家",
)


def _with_seat_names(value: str | Words) -> str | Words:
    if isinstance(value, Words) or not set(value.split(" / ")) <= SIGNER_NAMES.keys():
        return value
    return Words(value, "、".join(SIGNER_NAMES[name].zh for name in value.split(" / ")))

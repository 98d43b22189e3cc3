"""The results of `verify`: findings, the report of one attempt, and the whole report."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

import msgspec

from controller.host.printable_text import escape_unprintable
from controller.journal.verify.reason_checks import ReasonCheck

Grade = Literal["sequence", "hands"]


class VerifyFinding(msgspec.Struct, frozen=True):
    """One error: its entry `n` (None: the whole journal), `what` is wrong, and what it `means`."""

    n: int | None
    what: str
    means: str

    def __str__(self) -> str:
        """Return the finding as one line for a person."""
        where = "journal" if self.n is None else f"entry {self.n}"
        return escape_unprintable(f"{where}: {self.what}: {self.means}")


Findings = Iterator[VerifyFinding]
"""The results of a check, one for each error that it finds."""


def catch_malformed(checks: Findings, n: int | None, what: str) -> Findings:
    """Yield the findings of `checks`, and one more if a malformed entry stops the checks."""
    try:
        yield from checks
    except (*_MALFORMED_ERRORS, RecursionError) as error:
        yield VerifyFinding(n, f"{what} is malformed: {error!r}", "it cannot be proved")


_MALFORMED_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class CommitmentContext(msgspec.Struct, frozen=True, kw_only=True):
    """The six values that a commitment covers, read from the entry `committed` (PROOF.md §1)."""

    table_key: str
    match: str
    deal: int | None
    attempt: int
    profile_hash: str
    set: str


class AttemptReport(msgspec.Struct, frozen=True, kw_only=True):
    """The results of the checks of one attempt.

    `context`, `commitment`, `seed`, `cut`, `sequence` (one pocket letter for each place) and
    `hands` (the 32 bytes that bind them) are the values of the file, as hex if they are bytes. They
    are null while they are not public.

    `grade` is null while the seed is not revealed, or if steps are `missing`: steps that must have
    existed and that this file lacks. `gates`: single cards were compared with the sequence, and not
    only counts. `verdicts` has for each reason what the opened record shows. Reasons that no record
    can show are counted separately. `turned_away`: the number of cards that went to the tray after
    a good look, without a reason in the record.

    `withdrawn`: the hands were held and then not released. `recalled`: the hands were released and
    then dealt again. `sealed`: the machine could not open the record, because its key was lost with
    the power. The chief can open it. `unknown_rules` names the rules if they are not available
    here. Then deck and cut were not compared with them. `findings` are those of this attempt alone.
    The whole report has them as well.
    """

    attempt: int
    deal: int | None
    outcome: str | None
    withdrawn: bool
    reasons: list[str]
    verdicts: list[ReasonCheck] = []
    uncut: bool
    grade: Grade | None
    gates: bool
    context: CommitmentContext | None = None
    commitment: str | None = None
    seed: str | None = None
    cut: int | None = None
    sequence: str | None = None
    hands: str | None = None
    missing: list[str] = []
    turned_away: int = 0
    unknown_rules: str | None = None
    recalled: bool = False
    sealed: bool = False
    findings: list[VerifyFinding] = []

    @property
    def unprovable_reasons(self) -> list[str]:
        """Return the reasons of the attempt that the checked file neither supports nor disproves.

        No record can show such a reason, or the file has no record.
        """
        return [each.reason for each in self.verdicts if each.says == "not shown"]

    def __str__(self) -> str:
        """Return the report of the attempt as one line for a person."""
        end = "withdrawn" if self.withdrawn else self.outcome or "not over"
        end = "recalled" if self.recalled else end
        says = _REASON_SUFFIXES | ({"not shown": ""} if "record" in self.missing else {})
        words = (each.reason + says[each.says] for each in self.verdicts)
        reasons = f" ({', '.join(words)})" if self.verdicts else ""
        uncut = ", uncut" if self.uncut else f", cut {self.cut}" if self.cut is not None else ""
        away = f"; {self.turned_away} turned away without a reason" if self.turned_away else ""
        found = len(self.findings)
        wrong = f"; {found} finding{'s' * (found != 1)}" if found else ""
        told = f"attempt {self.attempt}, deal {self.deal}: {end}{reasons}{uncut}"
        return escape_unprintable(f"{told}; {self._grade_text()}{away}{wrong}")

    def _grade_text(self) -> str:
        if self.sealed and self.grade is None:
            return "sealed to the chief: its key was lost with the power"
        if self.missing:
            return f"no grade: not in this file: {', '.join(self.missing)}"
        lacks = "; its hands are sealed to the chief" if self.sealed else ""
        if self.grade is None:
            return (lacks and lacks[2:]) or "nothing to check yet: its seed is not revealed"
        cards = "every gate" if self.gates else "counts only, no gates in this file"
        holds = "" if self.findings else " holds"
        if self.grade == "hands":
            holds = "" if self.findings else " hold"
            return f"grade hands: sequence ({cards}) and opened hands{holds}{lacks}"
        return f"grade sequence: {cards}{holds}{lacks}"


def _number_ranges(numbers: Sequence[int]) -> Iterator[str]:
    """Yield ascending `numbers` as texts, with three or more in a row as a range ("4 to 7")."""
    for _, run in groupby(enumerate(numbers), key=lambda one: one[1] - one[0]):
        first, *rest = (number for _, number in run)
        yield f"{first} to {rest[-1]}" if len(rest) > 1 else ", ".join(map(str, [first, *rest]))


_REASON_SUFFIXES = {"follows": "", "disproved": ": disproved", "not shown": ": no record shows it"}


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The results of `verify` for a whole file.

    `head` is the last head (hex). `whole`: the source is a journal, not the events of a feed.
    `signed_heads`: the number of signed heads of this table that were compared, or null if none
    were given. `heads_apart`: the number of signed heads that could not be compared, because this
    file lacks their rows. `missing`: the ids of attempts that a file of events lacks, or whose
    commitment it lacks.
    """

    table: str | None
    whole: bool
    entries: int
    head: str
    signed_heads: int | None = None
    heads_apart: int = 0
    attempts: list[AttemptReport]
    findings: list[VerifyFinding]
    missing: list[int] = []

    @property
    def missing_text(self) -> str:
        """Return a text that lists the missing attempts and steps, or "" if nothing is missing."""
        steps = [each.attempt for each in self.attempts if each.missing]
        missing = {"attempts": self.missing, "steps of attempts": steps}
        return "; ".join(
            f"{what} {', '.join(_number_ranges(numbers))}"
            for what, numbers in missing.items()
            if numbers
        )

    @property
    def unprovable_attempts(self) -> list[AttemptReport]:
        """Return the reports of the attempts that have `unprovable_reasons`."""
        return [standing for standing in self.attempts if standing.unprovable_reasons]

"""What `verify` says: findings, one attempt's standing, the whole report."""

from typing import Literal

import msgspec

from controller.tomlwords import printable

Grade = Literal["sequence", "hands"]


class Finding(msgspec.Struct, frozen=True):
    """Something that does not hold: at which entry, what it is, what it means."""

    n: int | None
    what: str
    means: str

    def __str__(self) -> str:
        """One line for a person."""
        where = "journal" if self.n is None else f"entry {self.n}"
        return printable(f"{where}: {self.what}: {self.means}")


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What holds of one attempt.

    `grade` is null while its seed is not revealed. `gates` says whether single
    cards were compared with the sequence, or only counts. `unshown` are its
    reasons that no record can show: such attempts are counted apart. `withdrawn`:
    its hands were held, and then not released; `recalled`: they were released, and dealt
    again. `sealed`: the machine could not open it, for its key went with the power; the
    chief can. `unknown_rules` names the rules that it
    was dealt under where they are not at hand, so that deck and cut were not compared with them.
    """

    attempt: int
    deal: int | None
    outcome: str | None
    withdrawn: bool
    reasons: list[str]
    unshown: list[str]
    uncut: bool
    grade: Grade | None
    gates: bool
    unknown_rules: str | None = None
    recalled: bool = False
    sealed: bool = False

    def __str__(self) -> str:
        """One line for a person."""
        end = "withdrawn" if self.withdrawn else self.outcome or "not over"
        end = "recalled" if self.recalled else end
        reasons = f" ({', '.join(self.reasons)})" if self.reasons else ""
        uncut = ", uncut" if self.uncut else ""
        uncut += f"; {self._grade()}"
        return printable(f"attempt {self.attempt}, deal {self.deal}: {end}{reasons}{uncut}")

    def _grade(self) -> str:
        if self.sealed:
            return "sealed to the chief: its key went with the power"
        if self.grade is None:
            return "nothing to check yet: its seed is not revealed"
        cards = "every gate" if self.gates else "counts only, no gates in this file"
        if self.grade == "hands":
            return f"grade hands: sequence ({cards}) and opened hands hold"
        return f"grade sequence: {cards}"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` found.

    `head` is the last head (hex); `whole`: of a journal, not of a feed's events.
    """

    table: str | None
    whole: bool
    entries: int
    head: str
    attempts: list[Standing]
    findings: list[Finding]

    @property
    def apart(self) -> list[Standing]:
        """Return the attempts given up for reasons that no record can show."""
        return [standing for standing in self.attempts if standing.unshown]

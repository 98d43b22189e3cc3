"""Machines that cheat with the seed and its commitment."""

from dataclasses import replace
from typing import Any, Self

from controller.deal import sequence as fair
from controller.machine.attempts.attempt_writer import AttemptBinding, AttemptPlan, AttemptWriter
from controller.messages import MachinePhase
from tests.cheats.changed import BOOK, VICTIM, Cheat, pretend
from tests.cheats.evenings import CUT, THREE_DEALS

TOP = 27
"""The cheater knows which cards lie on top of the hopper, and wants them for North."""
TRIES = 40


def for_north(sequence: str) -> int:
    """Return how many of the cards on top go to North."""
    return sequence[:TOP].count("N")


def drawn_for_north(bound_to: AttemptBinding, plan: AttemptPlan, cut: int | None) -> bytes:
    """Return the seed of many that gives North most, for a cut that is known."""
    bound = fair.context(
        bound_to.table_key,
        plan.match_id,
        plan.deal,
        plan.number,
        bound_to.profile_hash,
        plan.card_set,
    )
    cards = bound_to.profile.deck.cards
    seeds = [bound_to.entropy(fair.SEED_BYTES) for _ in range(TRIES)]
    return max(
        seeds,
        key=lambda seed: for_north(fair.sequence(fair.commitment(bound, seed), seed, cut, cards)),
    )


class SeedAfterCut(AttemptWriter):
    """Draws another seed once the cut is known, and shows that one."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        super().write_cut(cut, reason, seat)
        if self.number == VICTIM:
            self._seed = drawn_for_north(self._binding, self.plan, cut)


class SeedAfterCutHidden(SeedAfterCut):
    """Draws another seed once the cut is known, and shows the one that it had promised."""

    promised = b""

    def write_committed(self) -> None:
        self.promised = self._seed
        super().write_committed()

    def write_revealed(self, *rest: Any, **more: Any) -> None:
        self._seed = self.promised
        super().write_revealed(*rest, **more)


class CommitsTwice(AttemptWriter):
    """Publishes a second commitment behind the cut, to a seed that it likes better."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        super().write_cut(cut, reason, seat)
        if self.number == VICTIM:
            commits_anew(self, drawn_for_north(self._binding, self.plan, cut))
            pretend(self._binding.record, MachinePhase.CUT)


def commits_anew(book: AttemptWriter, seed: bytes) -> None:
    """Write the commitment of a book to another seed."""
    other = AttemptWriter(book._binding, book.plan, book._key, seed, book._chief)
    other._written_data = {"seed": {}}
    other.write_committed()
    book._seed, book._commitment = seed, other._commitment


class DrawsTwice(AttemptWriter):
    """Commits to an attempt, does not like it, and begins the next without a word."""

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        book = super().new(bound_to, plan, chief)
        if plan.number != VICTIM:
            return book
        book.write_committed()
        book._binding.key_files.remove(plan.number)
        return super().new(bound_to, replace(plan, number=plan.number + 1), chief)


class OldSeed(AttemptWriter):
    """Takes the seed again that was shown after the first deal."""

    shown = b""

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        book = super().new(bound_to, plan, chief)
        if plan.number == VICTIM:
            return cls(bound_to, plan, book._key, OldSeed.shown, chief)
        OldSeed.shown = book._seed
        return book


class OldCommitment(AttemptWriter):
    """Publishes the first deal's commitment once more, and shows its seed."""

    first = (b"", b"")

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        book = super().new(bound_to, plan, chief)
        if plan.number == VICTIM:
            book._seed, book._commitment = OldCommitment.first
        OldCommitment.first = (book._seed, book._commitment)
        return book


class BoundElsewhere(AttemptWriter):
    """Takes a commitment that was made for another match."""

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        book = super().new(bound_to, plan, chief)
        if plan.number == VICTIM:
            other = replace(plan, match_id="another match")
            book._commitment = cls(bound_to, other, book._key, book._seed)._commitment
        return book


class KnowsTheCut(AttemptWriter):
    """Promises a seed that it likes for the number that its players always cut."""

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        """Draw for North before it commits."""
        book = super().new(bound_to, plan, chief)
        if plan.number != VICTIM:
            return book
        return cls(bound_to, plan, book._key, drawn_for_north(bound_to, plan, CUT), chief)


NO_SEED = "the revealed seed does not give the published commitment"
CHEATS = (
    Cheat(
        name="another seed after the cut",
        gains="with the cut known it draws seeds until the cards on top go to North",
        parts={BOOK: SeedAfterCut},
        evening=THREE_DEALS,
        found=NO_SEED,
        on_feed=NO_SEED,
    ),
    Cheat(
        name="another seed after the cut, and the promised one shown",
        gains="the deal is by a seed of its choice, and commitment and seed fit",
        parts={BOOK: SeedAfterCutHidden},
        evening=THREE_DEALS,
        found="this hand is not the one that was committed to",
        on_feed="this hand is not the one that was committed to",
    ),
    Cheat(
        name="two commitments",
        gains="it takes the one of the two that suits the cut",
        parts={BOOK: CommitsTwice},
        evening=THREE_DEALS,
        found="attempt 2 has a second committed",
        on_feed="attempt 2 has a second committed",
    ),
    Cheat(
        name="two draws",
        gains="it commits as often as it likes, and deals the nicest",
        parts={BOOK: DrawsTwice},
        evening=THREE_DEALS,
        found="attempt 2 has no end",
        on_feed="attempt 2 has no end",
    ),
    Cheat(
        name="an old seed",
        gains="whoever noted the seed of an earlier deal knows this one for every cut",
        parts={BOOK: OldSeed},
        evening=THREE_DEALS,
        found="the seed of attempt 2 is that of attempt 1",
        on_feed="the seed of attempt 2 is that of attempt 1",
    ),
    Cheat(
        name="an old commitment",
        gains="the deal is known before it is cut, for its seed was shown long ago",
        parts={BOOK: OldCommitment},
        evening=THREE_DEALS,
        found=NO_SEED,
        on_feed=NO_SEED,
    ),
    Cheat(
        name="a commitment from another match",
        gains="it keeps a store of commitments, and takes the one it likes for this match",
        parts={BOOK: BoundElsewhere},
        evening=THREE_DEALS,
        found=NO_SEED,
        on_feed=NO_SEED,
    ),
    Cheat(
        name="a seed for the cut that is always the same",
        gains="it draws seeds before it commits, until the cards on top go to North by that cut",
        parts={BOOK: KnowsTheCut},
        evening=THREE_DEALS,
        found=None,
        on_feed=None,
        unseen="seeds look alike; a cut that nobody can foresee makes it worthless",
    ),
)

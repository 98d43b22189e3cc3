"""Machines that lie about counts, sets, rules and who leads."""

from collections.abc import Collection, Iterator
from typing import Any

from controller.cards import Face
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptWriter
from controller.vault.vault import Vault
from tests.cheats.changed import BOOK, RUN, VAULT, VICTIM, Cheat
from tests.cheats.evenings import A_CARD_READ_TWICE, A_THIRD_COPY, BIG_TWO, THREE_DEALS

NO_SEED = "the revealed seed does not give the published commitment"


class ReleasesMisdeals(AttemptRun):
    """Does not ask what is wrong with the set."""

    def _set_faults(self) -> tuple[str, ...]:
        return ()


class HidesTheTray(AttemptWriter):
    """Says that no card was in the tray."""

    kinds: Collection[str] = ("dealt", "verdict")

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        lie = {"refed": 0} if self.number == VICTIM and kind in self.kinds else {}
        super()._write(kind, data | lie, public=public)


class HidesTheTrayInOneRow(HidesTheTray):
    """Says in one of two rows that no card was in the tray."""

    kinds = ("dealt",)


class MiscountsHands(AttemptWriter):
    """Says of right hands that West has a card of North's."""

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        if kind == "verdict" and self.number == VICTIM:
            landed = data["landed"]
            data = data | {"landed": landed | {"N": landed["N"] - 1, "W": landed["W"] + 1}}
        super()._write(kind, data, public=public)


def promising(**other: Any) -> type[AttemptWriter]:
    """Return a machine that publishes, beside its commitment, other things than it is bound to."""

    class Promises(AttemptWriter):
        def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
            lie = other if kind == "committed" and self.number == VICTIM else {}
            super()._write(kind, data | lie, public=public)

    return Promises


class TurnsUpAnother(AttemptWriter):
    """Turns up another card than was drawn first, so that another seat leads."""

    def write_committed(self) -> None:
        """Tell the vault which seats the places are."""
        super().write_committed()
        assert isinstance(self.vault, LaterDraw)
        self.vault.seats = lambda: self.sequence


class LaterDraw(Vault):
    """Passes over the drawn card until another seat has it."""

    seats: Any = None

    def turn_up(self, draws: Iterator[int], redo: Collection[Face] = ()) -> tuple[int, Face]:
        """Take a later draw than the first."""
        drawn, _ = super().turn_up(draws, redo)
        seats = self.seats()
        later = (place for place in draws if seats[place - 1] != seats[drawn - 1])
        return super().turn_up(later, redo)


class LeadsWhoItLikes(AttemptWriter):
    """Turns up the drawn card, and says that the next seat has it."""

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        if kind == "released" and "leader" in data:
            data = data | {"leader": "WSEN"["NWSE".index(data["leader"])]}
        super()._write(kind, data, public=public)


CHEATS = (
    Cheat(
        name="a misdeal let out as right",
        gains="a set with a third copy is played with by whoever knows of it",
        parts={RUN: ReleasesMisdeals},
        evening=A_THIRD_COPY,
        found="the opened hands have",
        on_feed="the opened hands have",
    ),
    Cheat(
        name="rejects that are hidden",
        gains="cards went to the tray, and nobody counts how often",
        parts={BOOK: HidesTheTray},
        evening=A_CARD_READ_TWICE,
        found="the verdict has refed 0, the boards' events have 1",
        on_feed="the verdict has refed 0, the boards' events have 1",
    ),
    Cheat(
        name="rejects that are hidden in one row of two",
        gains="who reads the count alone sees no card that went to the tray",
        parts={BOOK: HidesTheTrayInOneRow},
        evening=A_CARD_READ_TWICE,
        found="dealt has 108 and 0 fed, its verdict [108, 1]",
        on_feed="dealt has 108 and 0 fed, its verdict [108, 1]",
    ),
    Cheat(
        name="hands miscounted",
        gains="a hand of 26 is said to have been 27, or the other way round",
        parts={BOOK: MiscountsHands},
        evening=THREE_DEALS,
        found="and a right deal is",
        on_feed="and a right deal is",
    ),
    Cheat(
        name="another set than it is bound to",
        gains="a set that nobody counted is dealt with",
        parts={BOOK: promising(set="S9")},
        evening=THREE_DEALS,
        found=NO_SEED,
        on_feed=NO_SEED,
    ),
    Cheat(
        name="other rules than it is bound to",
        gains="it is held to rules that nobody signed",
        parts={BOOK: promising(profile_hash="ab" * 32)},
        evening=THREE_DEALS,
        found=NO_SEED,
        on_feed=NO_SEED,
    ),
    Cheat(
        name="another set of cards than its rulebook's",
        gains="cards that nobody expects are in the hands",
        parts={BOOK: promising(deck={"packs": 2, "jokers": False, "cards": 104})},
        evening=THREE_DEALS,
        found="its set is not the one of profile",
        on_feed="its set is not the one of profile",
    ),
    Cheat(
        name="another card turned up",
        gains="the seat that it likes leads the first deal",
        parts={BOOK: TurnsUpAnother, VAULT: LaterDraw},
        evening=THREE_DEALS,
        found="another seat should have led",
        on_feed="another seat should have led",
    ),
    Cheat(
        name="another leader than whoever holds the card",
        gains="the seat that it likes leads in Big Two",
        parts={BOOK: LeadsWhoItLikes},
        evening=BIG_TWO,
        found="another seat should have led",
        on_feed="another seat should have led",
    ),
    Cheat(
        name="another leader than the turned-up card's",
        gains="the seat that it likes leads the first deal",
        parts={BOOK: LeadsWhoItLikes},
        evening=THREE_DEALS,
        found="another seat should have led",
        on_feed="another seat should have led",
    ),
)

"""Machines that cheat with the players' cut."""

from collections.abc import Mapping
from typing import Any

from controller.deal import sequence as fair
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptWriter
from controller.machine.panel_control import STEP_INTERVAL_S, CutCounter
from controller.machine.table_record import TableRecord
from tests.cheats.changed import BOOK, COUNTER, RECORD, RUN, VICTIM, Cheat
from tests.cheats.evenings import BY_PRESS, CUT, THREE_DEALS, UNCUT_FIRST
from tests.cheats.seeds import for_north

NOBODY = "nobody came to cut"


class NobodyCut(AttemptWriter):
    """Takes the players' number, says that there was none, and deals without it."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        if self.number == VICTIM:
            cut, reason, seat = None, NOBODY, None
        super().write_cut(cut, reason, seat)


class NobodyCame(AttemptRun):
    """Answers whoever cuts that it is well, and journals neither cut nor command."""

    async def _take_one_cut(self) -> bool:
        if self.number != VICTIM:
            return await super()._take_one_cut()
        order = await self.until_stopped(self._deps.processor.wait_for("cut"))
        self.writer.write_cut(None, NOBODY)
        await self._record.sync()
        order.send_answer({"cut": order.args.n})
        return True


class RefereeInvented(TableRecord):
    """Journals, instead of the player's cut, that the referee had it dealt without one."""

    def write(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        """Put the referee's name under a word of its own."""
        if kind == "command" and data["cmd"] == "start_deal":
            self.heard = dict(data)
        if more.get("attempt") == VICTIM and kind == "cut":
            data = {"cut": None, "reason": NOBODY}
        elif more.get("attempt") == VICTIM and kind == "command" and data["cmd"] == "cut":
            data = self.word()
        super().write(kind, data, **more)

    def word(self) -> dict[str, Any]:
        """Return a command that nobody gave."""
        said = {"uncut": True, "reason": NOBODY}
        return self.heard | {"id": "invented", "args": said, "result": {"cut": None}}

    heard: dict[str, Any]


class RefereeUnsigned(RefereeInvented):
    """Journals the referee's word without his signature."""

    def word(self) -> dict[str, Any]:
        """Return a command that nobody signed."""
        bare = {name: said for name, said in super().word().items() if name != "sig"}
        return {name: said for name, said in bare.items() if name not in ("args", "of")}


class RefereeReplayed(RefereeInvented):
    """Journals once more what the referee said of the deal before."""

    def word(self) -> dict[str, Any]:
        """Return a command that was given for another deal."""
        return self.first

    def write(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        """Keep the first deal's order."""
        if kind == "command" and data["cmd"] == "start_deal" and more.get("attempt") == 1:
            self.first = dict(data)
        super().write(kind, data, **more)

    first: dict[str, Any]


class DealsUncut(AttemptWriter):
    """Deals without the players' number; what is journalled is its record's matter."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        """Forget the number."""
        super().write_cut(cut, reason, seat)
        if self.number == VICTIM:
            self.cut = None


class AnotherCut(AttemptWriter):
    """Journals the players' cut, deals by the one next to it that it likes, and shows that."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        super().write_cut(cut, reason, seat)
        if self.number == VICTIM:
            self.cut = self.nicest()

    def nicest(self) -> int:
        """Return the cut that gives North most of the cards on top."""
        profile = self._binding.profile
        others = [cut for cut in profile.cuts() if cut != self.cut]
        return max(others, key=lambda cut: for_north(self.by(cut)))

    def by(self, cut: int) -> str:
        """Return the sequence that a cut would give."""
        return fair.sequence(self._commitment, self._seed, cut, self._binding.profile.deck.cards)


class AnotherCutHidden(AnotherCut):
    """Deals by another cut than the players', and shows theirs."""

    def write_revealed(self, *rest: Any, **more: Any) -> None:
        if self.number == VICTIM:
            self.cut = self._written_data["cut"]["cut"]
        super().write_revealed(*rest, **more)


class AnotherCutWritten(AnotherCut):
    """Journals another cut than the player sent, and keeps to that."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        if self.number == VICTIM:
            cut = self.nicest()
        AttemptWriter.write_cut(self, cut, reason, seat)


class CutOutOfBounds(AttemptWriter):
    """Takes a number that no player may cut, and says that one did."""

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        super().write_cut(3 if self.number == VICTIM else cut, reason, seat)


class GroundByTheDisplay(AttemptWriter):
    """Tells the counter which number to dwell on."""

    wanted: int | None = None

    def write_committed(self) -> None:
        super().write_committed()
        cuts = self._binding.profile.cuts()
        cards = self._binding.profile.deck.cards

        def given(cut: int) -> int:
            return for_north(fair.sequence(self._commitment, self._seed, cut, cards))

        GroundByTheDisplay.wanted = max(cuts, key=given)


class DwellingCounter(CutCounter):
    """Runs as it should, and stands longest on the number that it wants."""

    def _step(self) -> None:
        super()._step()
        if self.number == GroundByTheDisplay.wanted and self._timer is not None:
            self._timer.cancel()
            self._timer = self._loop.call_later(600 * STEP_INTERVAL_S, self._step)


OWN = "cut"
CHEATS = (
    Cheat(
        name="nobody cut",
        gains="it deals by the seed that it chose alone",
        parts={BOOK: NobodyCut},
        evening=THREE_DEALS,
        found=f"a command cut {CUT}, and the cut is",
        on_feed=f"a command cut {CUT}, and the cut is",
    ),
    Cheat(
        name="nobody cut, and nobody's command was written",
        gains="it deals by the seed that it chose alone, and nothing tells of the player's word",
        parts={RUN: NobodyCame},
        evening=THREE_DEALS,
        found="without a cut and without a command",
        on_feed=None,
        unseen="a listener who missed an event cannot tell that nobody ordered it",
    ),
    Cheat(
        name="nobody cut, by a referee's word that he never gave",
        gains="it deals by the seed that it chose alone, and the referee is to blame",
        parts={RECORD: RefereeInvented, BOOK: DealsUncut},
        evening=THREE_DEALS,
        found="signature",
        on_feed="signature",
    ),
    Cheat(
        name="nobody cut, by a referee's word without his signature",
        gains="it deals by the seed that it chose alone, and the referee is to blame",
        parts={RECORD: RefereeUnsigned, BOOK: DealsUncut},
        evening=THREE_DEALS,
        found="signature",
        on_feed="signature",
    ),
    Cheat(
        name="nobody cut, by an old word of the referee's",
        gains="it deals by the seed that it chose alone, as he once had it done",
        parts={RECORD: RefereeReplayed, BOOK: DealsUncut},
        evening=UNCUT_FIRST,
        found="used twice",
        on_feed="used twice",
    ),
    Cheat(
        name="another cut, and shown",
        gains="the players' number is on the screens, and another one drew the hands",
        parts={BOOK: AnotherCut},
        evening=THREE_DEALS,
        found="is not the players' own",
        on_feed="is not the players' own",
    ),
    Cheat(
        name="another cut, and the players' own shown",
        gains="the players' number is on the screens and in the proof; another drew the hands",
        parts={BOOK: AnotherCutHidden},
        evening=THREE_DEALS,
        found="this hand is not the one that was committed to",
        on_feed="this hand is not the one that was committed to",
    ),
    Cheat(
        name="another cut than was sent",
        gains="a cut of its choice is said to be the player's",
        parts={BOOK: AnotherCutWritten},
        evening=THREE_DEALS,
        found=f"a command cut {CUT}, and the cut is",
        on_feed=f"a command cut {CUT}, and the cut is",
    ),
    Cheat(
        name="a cut that no player may make",
        gains="it has more numbers to choose from than the players were told",
        parts={BOOK: CutOutOfBounds},
        evening=THREE_DEALS,
        found="is not one that profile",
        on_feed="is not one that profile",
    ),
    Cheat(
        name="a display that dwells on a number",
        gains="whoever presses, the press falls on the number that the machine wants",
        parts={BOOK: GroundByTheDisplay, COUNTER: DwellingCounter},
        evening=BY_PRESS,
        found=None,
        on_feed=None,
        unseen="the number was on the display when it was pressed; who looks at it sees it stand",
    ),
)

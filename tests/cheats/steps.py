"""Machines that take the steps of a deal in another order, or not as they promised."""

import asyncio
from typing import Any

import msgspec

from controller.deal.observations import ShufflerDone
from controller.machine.attempts.attempt_run import AttemptRun
from controller.machine.attempts.attempt_writer import AttemptWriter
from controller.machine.attempts.card_loop import CardLoop
from controller.messages import MachinePhase
from tests.cheats.changed import BOOK, DEALING, RUN, VICTIM, Cheat, pretend, whisper
from tests.cheats.evenings import THREE_DEALS
from tests.cheats.seeds import commits_anew, drawn_for_north

A_CARD_S = 0.1
"""By then the first card has left the hopper, and lies in its pocket as long after."""


class CommitsLate(AttemptWriter):
    """Shows a commitment on the screens alone, and journals another one behind the cut."""

    def write_committed(self) -> None:
        if self.number != VICTIM:
            super().write_committed()
            return
        self.late: list[tuple[str, dict[str, Any], bool]] = []
        super().write_committed()
        for kind, data, public in self.late:
            if public:
                whisper(self._binding.record, kind, data, self.deal, self.number)

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        if self.number != VICTIM or kind not in ("seed", "committed") or kind in self._written_data:
            super()._write(kind, data, public=public)
            return
        self._written_data[kind] = data
        self.late.append((kind, data, public))

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        super().write_cut(cut, reason, seat)
        if self.number == VICTIM:
            commits_anew(self, drawn_for_north(self._binding, self.plan, cut))
            pretend(self._binding.record, MachinePhase.CUT)


class CutBehindTheShuffle(AttemptRun):
    """Shuffles before it asks for the cut."""

    async def take_cut(self, uncut: str | None) -> None:
        if self.number != VICTIM:
            await super().take_cut(uncut)

    async def begin(self) -> None:
        await super().begin()
        if self.number == VICTIM:
            pretend(self._record, MachinePhase.COMMITTED)

    async def _write_shuffled(self, passes: int) -> None:
        if self.number == VICTIM:
            self.writer.write_shuffled(passes)
            await self._record.sync()
            pretend(self._record, MachinePhase.COMMITTED)
            await super().take_cut(None)
            assert self.card_loop is not None
            self.card_loop.attempt = msgspec.structs.replace(
                self.card_loop.attempt, sequence=self.writer.sequence
            )
        await super()._write_shuffled(passes)


class CardsBeforeTheCut(CutBehindTheShuffle):
    """Deals its first card before it asks for the cut."""

    async def _write_shuffled(self, passes: int) -> None:
        if self.number != VICTIM:
            await super()._write_shuffled(passes)
            return
        assert self.card_loop is not None
        first = self.card_loop.attempt.sequence[0]
        self.writer.write_shuffled(passes)
        await self._record.sync()
        self.card_loop.observe(ShufflerDone())
        await asyncio.sleep(A_CARD_S)
        self.card_loop.pause()
        await asyncio.sleep(A_CARD_S)
        self._deps.board_log.write()
        pretend(self._record, MachinePhase.COMMITTED)
        await AttemptRun.take_cut(self, None)
        drawn = self.writer.sequence
        there = drawn.index(first)
        turned = first + drawn[1:there] + drawn[0] + drawn[there + 1 :] if there else drawn
        self.card_loop.attempt = msgspec.structs.replace(self.card_loop.attempt, sequence=turned)
        self.card_loop.resume()


class ShufflesLess(CardLoop):
    """Shuffles once, whatever was promised."""

    def __init__(self, number: int, sequence: str, passes: int, **rest: Any) -> None:
        super().__init__(number, sequence, 1 if number == VICTIM else passes, **rest)


CHEATS = (
    Cheat(
        name="the commitment behind the cut",
        gains="nothing is promised before the cut but on a screen that nobody can check",
        parts={BOOK: CommitsLate},
        evening=THREE_DEALS,
        found="cut of attempt 2 without committed before it",
        on_feed="committed of attempt 2 comes after cut",
    ),
    Cheat(
        name="the cut behind the shuffle",
        gains="the steps are no more what the players were told, and what the cut can change less",
        parts={RUN: CutBehindTheShuffle},
        evening=THREE_DEALS,
        found="of attempt 2 without cut before it",
        on_feed="cut of attempt 2 comes after begun",
    ),
    Cheat(
        name="cards before the cut",
        gains="the first cards lie where it wants them, whatever the players cut",
        parts={RUN: CardsBeforeTheCut},
        evening=THREE_DEALS,
        found="cards of attempt 2 moved before its cut",
        on_feed="cut of attempt 2 comes after begun",
    ),
    Cheat(
        name="fewer shuffles than promised",
        gains="cards that were stacked stay together on their way into the feeder",
        parts={DEALING: ShufflesLess},
        evening=THREE_DEALS,
        found="2 passes were promised, 1 were done",
        on_feed="2 passes were promised, 1 were done",
    ),
)

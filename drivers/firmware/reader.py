"""The reader board's core: counts the cards it is told of and asks the engine at each.

A pulse of the trigger wire tells it, or where there is none (the setting `asked`) a LOOK.

The engine (a code reader or a smart camera) stands behind the HAL. The board says
what it answered, or that it did not; it decides nothing about a card.
"""

import struct

from . import protocol
from .board import MAX_COUNT, BoardCore
from .event_memory import NEVER_MS
from .pins import ReaderHal

NO_READ = (protocol.UNREADABLE, protocol.BACK_FOREIGN, 0, 0)
ANSWER_SIZE = len(NO_READ)


class ReaderCore(BoardCore):
    """The reader board; step it, and give it a HAL with the names of hal.py."""

    kind = protocol.KIND_READER

    def __init__(
        self,
        hal: ReaderHal,
        boot: int,
        reset_cause: int = 0,
        fw_hash: bytes = bytes(8),
        stored: bytes = b"",
    ) -> None:
        super().__init__(hal, boot, reset_cause, fw_hash, stored)
        self.pulses = 0  # of this attempt: the index of the card in the window
        self.reads = 0
        self._engine = hal
        self._engine_away = False  # the engine is known not to be there
        self._attempt_size = (0, 0)
        self._shot_number = 0
        self._limit = NEVER_MS  # until when the engine may answer; NEVER: it was not asked
        self._selftest_ms = NEVER_MS  # when the self-test asked it; NEVER: no self-test goes on
        self.commands.update(
            {
                protocol.BEGIN: self._begin,
                protocol.REREAD: self._reread,
                protocol.LOOK: self._look,
                protocol.SELFTEST: self._selftest,
            }
        )

    def totals(self) -> tuple[int, int]:
        """Return cards told of, and reads sent."""
        return self.pulses, self.reads

    def is_polled(self) -> int:
        """Return 1 where there is no trigger wire."""
        return self.settings["asked"]

    def doing(self) -> int:
        """Return wire.HOLDING while the engine looks at a card, else IDLE."""
        return protocol.IDLE if self._limit == NEVER_MS else protocol.HOLDING

    def is_busy(self) -> bool:
        """Return whether the engine was asked and has not answered."""
        return self._limit != NEVER_MS

    def pack_status(self) -> bytes:
        """Return the body of a STATUS."""
        return struct.pack(
            protocol.STATUS_BODIES[protocol.KIND_READER],
            self.attempt,
            self.doing(),
            min(self.pulses, MAX_COUNT),
            min(self.reads, MAX_COUNT),
            self.memory.last,
        )

    def on_edge(self, name: str, value: int) -> None:
        """Take a pulse, for a card that stands in the window, or that the engine came or went."""
        if name == "engine":
            self._engine_away = not value
            self.emit(protocol.ENGINE, place=1 if value else 0)
        elif name == "pulse" and value and self.attempt and not self.is_polled():
            self._begin_card()

    def _begin_card(self) -> None:
        if self.pulses == MAX_COUNT:
            return
        if self.is_busy():
            self._on_no_answer()  # the card before this one went unanswered
        self.pulses += 1
        self.life_in += 1
        self._ask_engine()

    def on_answers(self) -> None:
        """Take the engine's answer to the latest shot; any other is too late and dropped."""
        for answer in self._engine.answers():
            latest = len(answer) == ANSWER_SIZE or answer[ANSWER_SIZE] == self._shot_number
            if self.is_busy() and latest:
                if self._selftest_ms == NEVER_MS:
                    self._report_read(answer)
                else:
                    self._end_selftest(1)

    def on_time(self, until_ms: int) -> None:
        """The engine did not answer in time."""
        if self._limit <= until_ms:
            self._on_no_answer()

    def _on_no_answer(self) -> None:
        """Wait no more for the engine: what it was asked for has no answer."""
        if self._selftest_ms == NEVER_MS:
            self._report_read(NO_READ)
        else:
            self._end_selftest(0)

    def _end_selftest(self, answered: int) -> None:
        """Say whether the engine answered the self-test, and after how many milliseconds."""
        took = max(1, min(self.now - self._selftest_ms, MAX_COUNT))
        self._limit = self._selftest_ms = NEVER_MS
        self.emit(protocol.ENGINE, took, answered)

    def next_ms(self) -> int:
        """Return when the engine's time is over, or NEVER."""
        return self._limit

    def _ask_engine(self) -> None:
        self._shot_number += 1
        self._limit = self.now + self.settings["read_limit_ms"]
        self.hal.set("shoot", self._shot_number)

    def _report_read(self, answer: tuple[int, ...]) -> None:
        self._limit = NEVER_MS
        face, back, face_up, confidence = answer[:ANSWER_SIZE]
        if not 0 <= face < protocol.FACES:
            face = protocol.UNREADABLE
        if back not in (protocol.BACK_A, protocol.BACK_B):
            back = protocol.BACK_FOREIGN
        self.reads += 1
        self.life_out += 1
        confidence = max(0, min(confidence, MAX_COUNT))
        more = struct.pack(protocol.READ_BODY, face, back, 1 if face_up else 0, confidence)
        self.emit(protocol.READ, self.pulses, 0, more)

    # Commands.

    def _begin(self, attempt: int, cards: int, per: int) -> int:
        if attempt == self.attempt and attempt:
            return protocol.DONE if (cards, per) == self._attempt_size else protocol.BAD_VALUE
        if attempt < self.attempt:
            return protocol.WRONG_ATTEMPT
        if not attempt or not cards or cards != per * protocol.TRAY:
            return protocol.BAD_VALUE
        if self.is_memory_low():
            return protocol.MEMORY
        if self._engine_away:
            return protocol.NO_ENGINE
        self.attempt = attempt
        self._attempt_size = (cards, per)
        self.pulses = self.reads = 0
        self._limit = self._selftest_ms = NEVER_MS
        return protocol.DONE

    def _reread(self, attempt: int, index: int) -> int:
        if attempt != self.attempt or not attempt:
            return protocol.WRONG_ATTEMPT
        if not index or index != self.pulses:
            return protocol.WRONG_INDEX
        self._selftest_ms = NEVER_MS
        self._ask_engine()
        return protocol.DONE

    def _look(self, attempt: int, index: int) -> int:
        if not self.is_polled():
            return protocol.UNKNOWN
        if attempt != self.attempt or not attempt:
            return protocol.WRONG_ATTEMPT
        if not index or index not in (self.pulses, self.pulses + 1):
            return protocol.WRONG_INDEX
        if index > self.pulses:
            self._begin_card()
        return protocol.DONE

    def _selftest(self) -> int:
        if self._engine_away:
            return protocol.NO_ENGINE
        if self.is_busy():
            return protocol.BUSY
        self._selftest_ms = self.now
        self._ask_engine()
        return protocol.DONE

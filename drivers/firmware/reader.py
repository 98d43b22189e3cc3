"""The reader board's core, which counts cards and requests the face of each from the engine.

A pulse of the trigger wire announces a card. Without a wire (`asked`), the host sends a LOOK.

The engine (a code reader or a smart camera) is behind the HAL. The board reports its answer or its
silence. The board decides nothing about a card.
"""

import struct

from . import protocol
from .board import MAX_COUNT, BoardCore
from .event_memory import NEVER_MS
from .pins import ReaderHal

NO_READ = (protocol.UNREADABLE, protocol.BACK_FOREIGN, 0, 0)
ANSWER_SIZE = len(NO_READ)


class ReaderCore(BoardCore):
    """The core of the reader board, which counts cards and requests their faces from the engine.

    Its HAL has the names of pins.py.
    """

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
        self.pulses = 0  # Of this attempt: the index of the card in the window.
        self.reads = 0
        self._engine = hal
        self._engine_away = False  # The engine was reported absent.
        self._attempt_size = (0, 0)
        self._shot_number = 0
        self._limit = NEVER_MS  # Deadline of the engine's answer; NEVER_MS: no query.
        self._selftest_ms = NEVER_MS  # Start of the self-test; NEVER_MS: no self-test.
        self.commands.update(
            {
                protocol.BEGIN: self._begin,
                protocol.REREAD: self._reread,
                protocol.LOOK: self._look,
                protocol.SELFTEST: self._selftest,
            }
        )

    def totals(self) -> tuple[int, int]:
        """Return this attempt's number of announced cards, and its number of READ events."""
        return self.pulses, self.reads

    def is_polled(self) -> int:
        """Return 1 if the host announces cards by LOOK (there is no trigger wire), else 0."""
        return self.settings["asked"]

    def doing(self) -> int:
        """Return HOLDING while the board waits for an answer of the engine, else IDLE."""
        return protocol.IDLE if self._limit == NEVER_MS else protocol.HOLDING

    def is_busy(self) -> bool:
        """Return whether the board waits for an answer of the engine."""
        return self._limit != NEVER_MS

    def pack_status(self) -> bytes:
        """Return the state of the board as the body of its answer to STATUS."""
        return struct.pack(
            protocol.STATUS_BODIES[protocol.KIND_READER],
            self.attempt,
            self.doing(),
            min(self.pulses, MAX_COUNT),
            min(self.reads, MAX_COUNT),
            self.memory.last,
        )

    def on_edge(self, name: str, value: int) -> None:
        """Begin a look if a pulse announces a card, or report that the engine is absent or back.
        Ignore pulses outside an attempt, and all pulses if the host announces the cards.
        """
        if name == "engine":
            self._engine_away = not value
            self.emit(protocol.ENGINE, place=1 if value else 0)
        elif name == "pulse" and value and self.attempt and not self.is_polled():
            self._begin_card()

    def _begin_card(self) -> None:
        if self.pulses == MAX_COUNT:
            return
        if self.is_busy():
            self._on_no_answer()  # The previous card got no answer.
        self.pulses += 1
        self.life_in += 1
        self._ask_engine()

    def on_answers(self) -> None:
        """Report the engine's answer to the latest request. Drop answers to earlier requests."""
        for answer in self._engine.answers():
            latest = len(answer) == ANSWER_SIZE or answer[ANSWER_SIZE] == self._shot_number
            if self.is_busy() and latest:
                if self._selftest_ms == NEVER_MS:
                    self._report_read(answer)
                else:
                    self._end_selftest(1)

    def on_time(self, until_ms: int) -> None:
        """Report that the engine did not answer, if its deadline is `until_ms` or earlier."""
        if self._limit <= until_ms:
            self._on_no_answer()

    def _on_no_answer(self) -> None:
        """Report an unreadable card, or a failed self-test, because the engine did not answer."""
        if self._selftest_ms == NEVER_MS:
            self._report_read(NO_READ)
        else:
            self._end_selftest(0)

    def _end_selftest(self, answered: int) -> None:
        """Report the self-test's duration, and `answered`: 1 if the engine answered, else 0."""
        took = max(1, min(self.now - self._selftest_ms, MAX_COUNT))
        self._limit = self._selftest_ms = NEVER_MS
        self.emit(protocol.ENGINE, took, answered)

    def next_ms(self) -> int:
        """Return the deadline of the engine's answer, or NEVER_MS if the board waits for none."""
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

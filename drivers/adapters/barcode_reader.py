"""A reader board made of bought parts: a barcode engine reads codes printed on the cards.

A doubtful result counts as unreadable. Such a card goes to the tray and is read again later.
"""

from collections.abc import Callable, Mapping, Sequence

from drivers.adapters.barcode_engine import BarcodeEngine, BarcodeScan, SerialEnginePort
from drivers.firmware import protocol
from drivers.firmware.reader import NO_READ, ReaderCore
from drivers.link.frames import SETTING_IDS

CodedCard = tuple[int, int]
"""The meaning of a code: a face (0…53) and a back (BACK_A or BACK_B)."""

ANSWER_MARGIN_MS = 20
"""Extra waiting time of the core, so that the engine's own timeout comes first."""

BARCODE_LIMITATIONS = (
    "that two boards count each card by themselves: the reader has no trigger wire, the machine "
    "asks it for each card",
    "to detect a face-up card: it shows no code and is unreadable",
    "that a look belongs to the card in the window where the engine answers later than late_ms",
    "to know a card's back otherwise than by its code",
)
"""The promises that a reader of this kind cannot keep, one line each (deploy/THREATS.md)."""


class BarcodeHal:
    """The HAL of a reader board that reads cards with a barcode engine.

    `codes` maps a code to its card. `log` receives a line when the engine disappears or returns. No
    text of this class shows a face, neither repr() nor an error.
    """

    kind = protocol.HAL_ADAPTER
    limitations: Sequence[str] = BARCODE_LIMITATIONS

    def __init__(
        self,
        uid: bytes,
        engine: BarcodeEngine,
        codes: Mapping[bytes, CodedCard],
        port: SerialEnginePort,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.uid, self._log = uid, log
        self._codes, self._confidence = codes, engine.confidence
        self._scan = BarcodeScan(engine, port)
        self._is_engine_there = True  # True until the engine is detected as absent.
        self._now = 0
        self._shot = 0
        self._edges: list[tuple[int, str, int]] = []
        self._answers: list[tuple[int, ...]] = []

    def __repr__(self) -> str:
        """Return a text with the unique id only, because the text may be logged."""
        return f"BarcodeHal({self.uid.hex()})"

    def read(self, name: str) -> int:
        """Return 0, because a reader without a trigger wire has no inputs."""
        return 0

    def set(self, name: str, value: int) -> None:
        """Start a scan for the shot `value` if `name` is "shoot", else do nothing."""
        if name == "shoot":
            self._shot = value
            self._scan.begin(self._now)
            self._note_engine()

    def edges(self) -> list[tuple[int, str, int]]:
        """Return (t_ms, "engine", value) for each time the engine appeared (1) or vanished (0)."""
        edges, self._edges = self._edges, []
        return edges

    def answers(self) -> list[tuple[int, ...]]:
        """Return the engine's new answers, each as (face, back, face_up, confidence, shot)."""
        answers, self._answers = self._answers, []
        return answers

    def update(self, now_ms: int) -> None:
        """Read the bytes that the engine sent, and continue the present scan."""
        self._now = now_ms
        for line in self._scan.step(now_ms):
            card = None if line is None else self._codes.get(line)
            answer = NO_READ if card is None else (*card, 0, self._confidence)
            self._answers.append((*answer, self._shot))
        self._note_engine()

    def sources(self) -> Sequence[int]:
        """Return a tuple with the descriptor of the engine's port, or () without an engine."""
        source = self._scan.source
        return () if source is None else (source,)

    def due_ms(self, now_ms: int) -> int:
        """Return the deadline of the next `update`; NEVER_MS if none is needed before new input."""
        return now_ms if self._edges or self._answers else self._scan.due_ms()

    def stop(self) -> None:
        """End an unfinished scan and close the engine's port."""
        self._scan.close()

    def _note_engine(self) -> None:
        away = self._scan.away_reason
        there = away is None
        if there != self._is_engine_there:
            self._is_engine_there = there
            self._log("the engine is back" if there else f"the engine is away: {away}")
            self._edges.append((self._now, "engine", int(there)))


def make_barcode_reader(
    hal: BarcodeHal, engine: BarcodeEngine, boot: int, fw_hash: bytes, stored: bytes
) -> ReaderCore:
    """Return the core of a reader board that reads cards with a barcode engine.

    The core waits for an answer a little longer than the engine may need.
    """
    reader = ReaderCore(hal, boot, protocol.RESET_SOFT, fw_hash, stored)
    ids = SETTING_IDS["reader"]
    reader.settings.change(ids["asked"], 1)
    reader.settings.change(ids["read_limit_ms"], engine.limit_ms + ANSWER_MARGIN_MS)
    return reader

"""The configuration file of the barcode adapter: barcode.toml."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from controller.cards import FACE_COUNT, Face, face_text, parse_face
from controller.config import BoardId
from controller.host import toml_files
from drivers.adapters.barcode_engine import BarcodeEngine, Parity
from drivers.adapters.barcode_reader import ANSWER_MARGIN_MS, CodedCard
from drivers.firmware.protocol import BACK_A, BACK_B

BackName = Literal["A", "B"]
# Time limit of the reader board's core for a read, and its margin over the engine's time.
_MAX_LOOK_MS = 1000 - ANSWER_MARGIN_MS
BACKS: Mapping[BackName, int] = {"A": BACK_A, "B": BACK_B}

HexBytes = Annotated[
    str,
    Meta(
        pattern=r"^([0-9a-fA-F]{2}( [0-9a-fA-F]{2}){0,31})?$",
        description='up to 32 bytes as hexadecimal digits, like "16 54 0d"',
    ),
]
PrintableText = Annotated[
    str, Meta(pattern=r"^[!-~]{1,64}$", description="1 to 64 printable ASCII characters, no blank")
]


class BarcodeFileError(toml_files.FileError):
    """An error in a barcode.toml. Its text is one line with the reason."""


class BarcodeAdapterSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section [adapter]: the replaced board's `id`, and `link`, the port that the table opens.

    `folder` is the adapter's own folder. It contains how often the adapter was started, and the
    data that a reader board would store in its own memory.
    """

    id: BoardId
    link: Path
    folder: Path


class BarcodeEngineSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The section [engine]: the engine's serial port and its messages. The class BarcodeEngine
    (drivers/adapters/barcode_engine.py) has the same fields.
    """

    port: Annotated[str, Meta(min_length=1, description="a serial port")]
    baud: Annotated[int, Meta(ge=1200, le=4_000_000)] = 115_200
    parity: Parity = "none"
    data_bits: Annotated[int, Meta(ge=7, le=8)] = 8
    stop_bits: Annotated[int, Meta(ge=1, le=2)] = 1
    trigger: Annotated[HexBytes, Meta(min_length=2)] = "16 54 0d"
    trigger_off: HexBytes = "16 55 0d"
    end_of_line: Annotated[HexBytes, Meta(min_length=2)] = "0d"
    no_read: PrintableText | None = None
    timeout_ms: Annotated[int, Meta(ge=20, le=980)] = 200
    late_ms: Annotated[int, Meta(ge=0, le=960)] = 150
    settle_ms: Annotated[int, Meta(ge=1, le=200)] = 10
    confidence: Annotated[int, Meta(ge=128, le=255)] = 200

    def __post_init__(self) -> None:
        """Raise ValueError if one look can take longer than the board allows.

        Raise ValueError also if `settle_ms` is more than half of `timeout_ms`.
        """
        if self.timeout_ms + self.late_ms > _MAX_LOOK_MS:
            raise ValueError(
                f"late_ms = {self.late_ms}: expected at most {_MAX_LOOK_MS} with timeout_ms"
            )
        if self.settle_ms * 2 > self.timeout_ms:
            raise ValueError(f"settle_ms = {self.settle_ms}: expected at most half of timeout_ms")


class BarcodeCardSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One section [[card]]: a code, and the face and back of the card that has this code."""

    code: PrintableText
    face: str
    back: BackName

    def __post_init__(self) -> None:
        """Raise ValueError if `face` is not the text of a face."""
        parse_face(self.face)

    @property
    def coded(self) -> CodedCard:
        """Return the card's face and back as numbers, as the reader board reports them."""
        return parse_face(self.face), BACKS[self.back]


class BarcodeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a barcode.toml. A face may have several codes, but each code has one card."""

    adapter: BarcodeAdapterSection
    engine_section: BarcodeEngineSection = field(name="engine")
    cards: tuple[BarcodeCardSection, ...] = field(name="card", default=())

    def __post_init__(self) -> None:
        """Raise ValueError if a code occurs twice, or is the engine's text for "no code read"."""
        first: dict[str, int] = {}
        for number, card in enumerate(self.cards):
            known = first.setdefault(card.code, number)
            if known != number:
                raise ValueError(
                    f"card[{number}].code: expected another one than card[{known}] has"
                )
            if card.code == self.engine_section.no_read:
                raise ValueError(f"card[{number}].code: expected another one than engine.no_read")

    @property
    def engine(self) -> BarcodeEngine:
        """Return the settings of the engine in the type that the adapter uses."""
        values = msgspec.structs.asdict(self.engine_section)
        for name in ("trigger", "trigger_off", "end_of_line"):
            values[name] = bytes.fromhex(values[name])
        return BarcodeEngine(**values | {"no_read": (values["no_read"] or "").encode()})

    @property
    def codes(self) -> Mapping[bytes, CodedCard]:
        """Return a map from each code to its card."""
        return {card.code.encode(): card.coded for card in self.cards}

    def faces_without_code(self, back: BackName) -> tuple[Face, ...]:
        """Return, in ascending order, all faces for which no card with this back has a code."""
        known = {card.coded for card in self.cards}
        return tuple(face for face in range(FACE_COUNT) if (face, BACKS[back]) not in known)


def load_barcode_file(path: Path) -> BarcodeFile:
    """Return the content of a barcode.toml. Raises BarcodeFileError with one line of text."""
    return toml_files.read(path, BarcodeFile, BarcodeFileError)


def append_card(text: str, code: str, face: Face, back: BackName) -> str:
    """Return `text`, the content of a barcode.toml, followed by a section for one more card.
    The present text and comments are kept.
    """
    said = code.replace("\\", "\\\\").replace('"', '\\"')
    row = f'[[card]]\ncode = "{said}"\nface = "{face_text(face)}"\nback = "{back}"\n'
    return f"{text.rstrip()}\n\n{row}"

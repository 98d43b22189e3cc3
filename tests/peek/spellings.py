"""Every way in which a run of cards or pockets, or a piece of a key, may have been written.

The other side of reading.py, and not made from it: what is written here must be read there. There
are forms (how cards become bytes or text), codings of text, and wraps (hex, base64); what comes of
one of each is a `Spelling`.
"""

import base64
import json
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from controller.cards import RANKS, SUITS, face_text
from drivers.firmware import framing, protocol
from tests.peek.hidden import LETTERS, NUMBERS, POCKETS

Run = Sequence[int]
Write = Callable[[Run], bytes]
Say = Callable[[Run], str]


class Spelling(NamedTuple):
    """A way to write a run of `kind`: cards, letters, numbers (of pockets) or key."""

    kind: str
    name: str
    write: Write
    is_text: bool


# -- cards ---------------------------------------------------------------------

_CHINESE = ("黑桃", "红桃", "梅花", "方块")
_OTHER_CHINESE = ("黑桃", "红心", "草花", "方片")
_ENGLISH = ("spades", "hearts", "clubs", "diamonds")
_NAMES = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RANK_NAMES = (*_NAMES, "jack", "queen", "king", "ace")


def chinese(face: int, suits: Sequence[str] = _CHINESE) -> str:
    """Return a card as it is said in Chinese."""
    if face > 51:
        return ("小王", "大王")[face - 52]
    return suits[face // 13] + RANKS[face % 13]


def english(face: int, ranks: Sequence[str] = _RANK_NAMES) -> str:
    """Return a card as it is said in English."""
    if face > 51:
        return ("small joker", "big joker")[face - 52]
    return f"{ranks[face % 13]} of {_ENGLISH[face // 13]}"


def letters(face: int) -> str:
    """Return a card in letters, as it may be typed; SJ is the small joker, not the jack."""
    name = face_text(face)
    return name if face > 51 or name == "♠J" else "SHCD"[SUITS.index(name[0])] + name[1:]


def _packed(code: str) -> Write:
    return lambda run: struct.pack(f"{code[0]}{len(run)}{code[1]}", *run)


def _read_body(face: int) -> bytes:
    return struct.pack(protocol.READ_BODY, face, 1, 0, 250)


def _frame(place: int, face: int) -> bytes:
    """Return a READ as the reader board sends it."""
    number = place + 1
    event = struct.pack(
        protocol.BODIES[protocol.EVENT], 77, number, 3, protocol.READ, number, number, number, 0
    )
    return framing.encode(
        struct.pack(protocol.BOARD_HEADER, protocol.EVENT, 0x5EA10001) + event + _read_body(face)
    )


def _joined(between: str, word: Callable[[int], str]) -> Say:
    return lambda run: between.join(map(word, run))


def _gate(index: int, to: int) -> bytes:
    """Return what the journal has of a card: it was at the reader, read, and left for a pocket."""
    seen = bytes(
        (
            protocol.AT_READER,
            index,
            index - 1,
            index,
            0,
            0x80 | protocol.READ,
            index,
            index,
            index,
            0,
        )
    )
    return seen + bytes((protocol.GATE, index, index - 1, index, to))


_CARD_BYTES: dict[str, Write] = {
    "face bytes": bytes,
    "numbers of 2 bytes": _packed("<H"),
    "numbers of 4 bytes": _packed("<I"),
    "numbers of 8 bytes": _packed("<Q"),
    "numbers of 4 bytes, high first": _packed(">I"),
    "READ bodies": lambda run: b"".join(map(_read_body, run)),
    "READ frames": lambda run: b"\0" + b"".join(_frame(n, face) for n, face in enumerate(run)),
}
_CARD_TEXTS: dict[str, Say] = {
    "index, comma": _joined(",", str),
    "index, comma and blank": _joined(", ", str),
    "index, blank": _joined(" ", str),
    "index, line": _joined("\n", str),
    "index, as text": _joined('","', str),
    "index, two digits": _joined(" ", "{:02}".format),
    "index, in objects": lambda run: json.dumps(
        [{"place": 1000 + n, "face": face} for n, face in enumerate(run)]
    ),
    "JSON names": lambda run: json.dumps(list(map(face_text, run)), ensure_ascii=False),
    "JSON names, escaped": lambda run: json.dumps(list(map(face_text, run))),
    "JSON names, in objects": lambda run: json.dumps(
        [{"place": n, "card": face_text(face)} for n, face in enumerate(run)], ensure_ascii=False
    ),
    "names, blank": _joined(" ", face_text),
    "names in a row": _joined("", face_text),
    "letters, blank": _joined(" ", letters),
    "letters, JSON": lambda run: json.dumps(list(map(letters, run))),
    "Chinese": _joined("、", chinese),
    "Chinese in a row": _joined("", chinese),
    "Chinese, other words": _joined("，", lambda face: chinese(face, _OTHER_CHINESE)),
    "English": _joined(", ", english),
    "English, figures": _joined("\n", lambda face: english(face, RANKS)),
    "log lines": lambda run: "".join(
        f"card {n}: {face_text(face)}\n" for n, face in enumerate(run)
    ),
}
# -- pockets -------------------------------------------------------------------

_SEATS = ("North", "West", "South", "East")
_CHINESE_SEATS = ("北家", "西家", "南家", "东家")

_LETTER_TEXTS: dict[str, Say] = {
    "letters": _joined("", POCKETS.__getitem__),
    "small letters": _joined("", POCKETS.lower().__getitem__),
    "letters, comma": _joined(",", POCKETS.__getitem__),
    "letters, JSON": lambda run: json.dumps([POCKETS[n] for n in run]),
    "letters, in objects": lambda run: json.dumps([{"pocket": POCKETS[to]} for to in run]),
    "letters, in log lines": lambda run: "".join(
        f"route {n} to {POCKETS[to]}\n" for n, to in enumerate(run)
    ),
    "English seats": _joined(", ", _SEATS.__getitem__),
    "enumerators": _joined(" ", lambda to: _SEATS[to].upper()),
    "Chinese seats": _joined("、", _CHINESE_SEATS.__getitem__),
    "Chinese seats in a row": _joined("", lambda to: _CHINESE_SEATS[to][0]),
}
_LETTER_BYTES: dict[str, Write] = {
    "GATE events": lambda run: b"".join(map(_gate, range(1, len(run) + 1), run))
}
_NUMBER_BYTES: dict[str, Write] = {
    "numbers": bytes,
    "numbers of 4 bytes": _packed("<I"),
    "numbers of 8 bytes": _packed("<Q"),
}
_NUMBER_TEXTS: dict[str, Say] = {
    "digits": _joined("", str),
    "digits, comma": _joined(", ", str),
    "digits, in objects": lambda run: json.dumps([{"pocket": to} for to in run]),
}
# -- wraps ---------------------------------------------------------------------

_CODINGS = ("utf-8", "utf-16-le", "utf-32-le")


def _hex(between: str = "", *, upper: bool = False, before: str = "") -> Callable[[bytes], bytes]:
    def write(raw: bytes) -> bytes:
        digits = [before + (f"{byte:02X}" if upper else f"{byte:02x}") for byte in raw]
        return between.join(digits).encode()

    return write


def _base64(behind: int, *, url: bool) -> Callable[[bytes], bytes]:
    """Write base64 of something with `behind` other bytes in front of it."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return lambda raw: encode(b"\xf7\xe3\x9b"[:behind] + raw)


_WRAPS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda raw: raw,
    "Python": lambda raw: repr(raw).encode(),
    "hex": _hex(),
    "HEX": _hex(upper=True),
    "hex, blanks": _hex(" "),
    "HEX, colons": _hex(":", upper=True),
    "hex, \\x": _hex(before="\\x"),
    "hex, 0x": _hex(", ", before="0x"),
    **{
        f"base64{' for URLs' if url else ''}, {behind} bytes behind": _base64(behind, url=url)
        for url in (False, True)
        for behind in (0, 1, 2)
    },
    "hex in base64": lambda raw: base64.b64encode(raw.hex().encode()),
}
_LENGTHS = {"cards": 8, "letters": LETTERS, "numbers": NUMBERS, "key": 31}
_LEAST = {"cards": 54, "letters": 4, "numbers": 4, "key": 256}


def spellings() -> Iterator[Spelling]:
    """Yield all of them: every form, in every coding, in every wrap."""
    binary: dict[str, dict[str, Write]] = {
        "cards": _CARD_BYTES,
        "letters": _LETTER_BYTES,
        "numbers": _NUMBER_BYTES,
        "key": {"bytes": bytes},
    }
    text: dict[str, dict[str, Say]] = {
        "cards": _CARD_TEXTS,
        "letters": _LETTER_TEXTS,
        "numbers": _NUMBER_TEXTS,
    }
    for kind, forms in binary.items():
        for form, write in forms.items():
            for wrap in _WRAPS:
                is_text = wrap != "plain"
                yield Spelling(kind, f"{form}; {wrap}", _then(write, wrap), is_text)
    for kind, says in (*text.items(), ("key", {"list": _joined(", ", str)})):
        for form, say in says.items():
            for coding in _CODINGS:
                for wrap in _WRAPS if coding == "utf-8" else ("plain", "hex"):
                    is_text = coding == "utf-8" or wrap != "plain"
                    write = _then(_coded(say, coding), wrap)
                    yield Spelling(kind, f"{form}; {coding}; {wrap}", write, is_text)


def length(kind: str) -> int:
    """Return how much of a kind must be found: a run as short as it may be."""
    return _LENGTHS[kind]


def values(kind: str) -> int:
    """Return how many different things of a kind there are."""
    return _LEAST[kind]


def _coded(say: Say, coding: str) -> Write:
    return lambda run: say(run).encode(coding)


def _then(write: Write, wrap: str) -> Write:
    return lambda run: _WRAPS[wrap](write(run))

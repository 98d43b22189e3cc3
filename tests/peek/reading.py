"""Bytes read back in every way in which cards, pockets or keys may have been written into them.

A reading gives bytes again: cards as a byte each (0…53), pockets as letters, numbers and keys as
they are. What was written in hex or base64 is opened first, in every alignment, and then read in
all these ways; texts are read as UTF-8, UTF-16, UTF-32 (as a process has them in memory) and with
the escapes of JSON and Python. Between two things of a row may stand what a list has there.
"""

import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from drivers.firmware import framing, protocol

END = b"\xff\xfe\xff"
"""Between two runs that do not belong together."""
_FAR = 120
"""Bytes between two cards, seats or escapes of one row."""
_LEAST, _MOST_JOKERS = 8, 4
Word = tuple[int, int, int]
"""Where a word begins and ends, and what it means, as a byte."""
STRIDES = (2, 4, 8)
_PRINTABLE = re.compile(rb"[\x09\x0a\x0d\x20-\x7e\x80-\xff]{11,}")


class Reading(NamedTuple):
    """One way of reading, and what it gives. `stride`: every so many bytes were taken."""

    way: str
    data: bytes
    stride: int = 1


def readings(data: bytes) -> Iterator[Reading]:
    """Yield all readings of `data` that are not empty, `data` itself first."""
    for text in (Reading("", data), *_texts(data)):
        yield from _said(text)
        for inner in _unwrapped(text):
            yield from _opened(inner)
            for twice in _unwrapped(inner):
                yield from _opened(twice)


def _opened(text: Reading) -> Iterator[Reading]:
    yield from _said(text)
    for again in _texts(text.data):
        yield from _said(Reading(f"{text.way} {again.way}", again.data))


def _said(text: Reading) -> Iterator[Reading]:
    """Yield a text as it stands, and what it says in words, numbers and frames."""
    yield text
    for stride in STRIDES:
        for at in range(stride):
            yield Reading(f"{text.way} every {stride}th", text.data[at::stride], stride)
    for ways, data in ((_EVENTS, text.data), (_WORDS, _printable(text.data))):
        for way, read in ways.items():
            found = read(data)
            if found:
                yield Reading(f"{text.way} {way}", found)


@lru_cache(maxsize=2)  # it is asked for its words, then for what is wrapped in it
def _printable(data: bytes) -> bytes:
    """Return what of `data` may be text: of a process's memory a small part."""
    return END.join(_PRINTABLE.findall(data))


# -- texts ---------------------------------------------------------------------

_ASCII, _OTHER = 1, 2
_OTHER_ROWS = frozenset((*range(0x20, 0x27), 0x30, *range(0x4E, 0xA0), 0xFF))
"""First bytes of the signs and Chinese characters that a card or a seat is written with."""
_IS_LOW = bytes(
    (_ASCII if 0x20 <= byte < 0x7F or byte in b"\t\n\r" else 0) | (_OTHER if byte else 0)
    for byte in range(256)
)
_IS_HIGH = bytes(_OTHER if byte in _OTHER_ROWS else 0 if byte else _ASCII for byte in range(256))
_IS_ZERO = bytes(0 if byte else _ASCII | _OTHER for byte in range(256))
_TEXT_RUN = re.compile(rb"[^\x00]{8,}")
_CODINGS = {"utf-16": (_IS_LOW, _IS_HIGH), "utf-32": (_IS_LOW, _IS_HIGH, _IS_ZERO, _IS_ZERO)}
"""What each byte of a character is, in one plane of bytes after the other."""
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf\"'/\\]))")
_ESCAPED = 3
"""How often: JSON in a `repr` in a log line."""
_PLAIN_ESCAPES = dict(zip(b"nrtbf", b"\n\r\t\b\f", strict=True))


def _texts(data: bytes) -> Iterator[Reading]:
    """Yield what is text in other codings, and what has escapes without them, thrice at most."""
    wide = list(_wide(Reading("", data)))
    yield from wide
    escaped = [Reading("", data), *wide]
    for again in range(_ESCAPED):
        escaped = [plain for text in escaped for plain in _without_escapes(text)]
        if not again:  # zeros of wide texts have escapes of their own
            escaped += [text for each in escaped for text in _wide(each)]
        yield from escaped


def _without_escapes(text: Reading) -> list[Reading]:
    """Return what stands around escapes, each with the sign that it means."""
    parts, begins, ends = [], -1, -1
    for escape in _ESCAPE.finditer(text.data):
        if ends >= 0 and escape.start() > ends + _FAR:
            parts.append(text.data[max(0, begins - _FAR) : ends + _FAR])
            begins = escape.start()
        begins = escape.start() if begins < 0 else begins
        ends = escape.end()
    if ends < 0:
        return []
    parts.append(text.data[max(0, begins - _FAR) : ends + _FAR])
    return [Reading(f"{text.way} escapes", _ESCAPE.sub(_unescaped, END.join(parts)))]


def _wide(text: Reading) -> Iterator[Reading]:
    data = text.data
    for way, planes in _CODINGS.items():
        width = len(planes)
        runs = [
            data[at + width * run.start() : at + width * run.end()]
            for at in range(width)
            for run in _TEXT_RUN.finditer(_characters(data, at, planes))
        ]
        if runs:
            texts = (run.decode(f"{way}-le", "replace").encode("utf-8", "replace") for run in runs)
            yield Reading(f"{text.way} {way}", END.join(texts))


def _characters(data: bytes, at: int, planes: Sequence[bytes]) -> bytes:
    """Return a byte for each character from `at` on: 0 where there is none."""
    width = len(planes)
    count = (len(data) - at) // width
    both = -1
    for n, table in enumerate(planes):
        plane = data[at + n : at + count * width : width].translate(table)
        both &= int.from_bytes(plane, "little")
    return both.to_bytes(count, "little") if count > 0 else b""


def _unescaped(escape: re.Match[bytes]) -> bytes:
    long, short, sign = escape.groups()
    if long is not None:
        return chr(int(long, 16)).encode("utf-8", "replace")
    if short is not None:
        return bytes((int(short, 16),))
    return bytes((_PLAIN_ESCAPES.get(sign[0], sign[0]),))


# -- hex and base64 ------------------------------------------------------------

_HEX = re.compile(rb"[0-9a-fA-F]{16,}")
_BETWEEN = rb"(?:, ?0x|\\x|, |[ :,;\-_.\n])"
_HEX_ROW = re.compile(rb"[0-9a-fA-F]{2}(?:" + _BETWEEN + rb"[0-9a-fA-F]{2}){7,}")
_NO_HEX = re.compile(_BETWEEN)
_BASE64 = re.compile(rb"[A-Za-z0-9+/_\-]{11,}")
_ONE_ALPHABET = bytes.maketrans(b"-_", b"+/")


def _unwrapped(text: Reading) -> Iterator[Reading]:
    data = _printable(text.data)
    for way, read in _WRAPS.items():
        found = read(data)
        if found:
            yield Reading(f"{text.way} {way}", found)


def _hex(data: bytes) -> bytes:
    runs = (run.group() for run in _HEX.finditer(data))
    return END.join(_unhexed(run[at:]) for run in runs for at in (0, 1))


def _hex_row(data: bytes) -> bytes:
    runs = (_NO_HEX.sub(b"", run.group()) for run in _HEX_ROW.finditer(data))
    return END.join(map(_unhexed, runs))


def _unhexed(digits: bytes) -> bytes:
    return binascii.unhexlify(digits[: len(digits) // 2 * 2])


def _base64(data: bytes) -> bytes:
    runs = (run.group().translate(_ONE_ALPHABET) for run in _BASE64.finditer(data))
    return END.join(_unbased(run[at:]) for run in runs for at in range(4))


def _unbased(letters: bytes) -> bytes:
    return binascii.a2b_base64(letters + b"A" * (-len(letters) % 4))


_WRAPS: dict[str, Callable[[bytes], bytes]] = {"hex": _hex, "hex row": _hex_row, "base64": _base64}

# -- words ---------------------------------------------------------------------

_GAP = rb"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]"
"""What may stand between two words or numbers of a list."""
_NUMBER = re.compile(rb"[0-9](?<![0-9][0-9])[0-9]{0,2}(?:" + _GAP + rb"{1,6}[0-9]{1,3}){7,}")
_DIGITS = re.compile(rb"[0-9]+")
_KEYED = re.compile(rb"\"([A-Za-z_]{1,20})\": ?\"?([0-9]{1,3}|[NWSE])(?![0-9A-Za-z.])")

_SUITS = (
    ("♠", "♤", "黑桃", "黑"),
    ("♥", "♡", "红桃", "红心", "紅桃", "紅心", "红", "紅"),
    ("♣", "♧", "梅花", "草花", "梅", "草"),
    ("♦", "♢", "方块", "方片", "方塊", "方"),
)
_RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
_RANK_OF = {rank: n for n, rank in enumerate(_RANKS)} | {"T": 8, "十": 8, "1": 12}
_ENGLISH = ("spade", "heart", "club", "diamond")
_NAMED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen")
_ENGLISH_RANK = {name: n for n, name in enumerate((*_NAMED, "king", "ace"))} | {
    rank.lower(): n for n, rank in enumerate(_RANKS)
}
_ENGLISH_RANKS = tuple(word.encode() for word in sorted(_ENGLISH_RANK, key=len, reverse=True))
_JOKERS = {
    **dict.fromkeys(("小王", "小鬼", "small joker", "little joker"), 52),
    **dict.fromkeys(("大王", "大鬼", "big joker"), 53),
}
_LETTER_JOKERS = {"SJ": 52, "BJ": 53}


def _any_of(words: Iterable[str]) -> bytes:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))).encode()


_SIGN = re.compile(rb"(\xe2\x99[\xa0-\xa7])\s?(10|[2-9TJQKA])")
_CHINESE = re.compile(
    rb"(" + _any_of(word for words in _SUITS for word in words[2:]) + rb")\s?"
    rb"(10|[2-9TJQKA]|"
    + "十".encode()
    + rb")|("
    + _any_of(word for word in _JOKERS if not word.isascii())
    + rb")"
)
_LONE_JOKER = re.compile(rb"[SB]J(?<![A-Za-z]..)(?![A-Za-z])", re.DOTALL)
_ENGLISH_JOKER = re.compile(rb"(?:small|little|big) joker")
_ENGLISH_SUIT = re.compile(rb" of (spade|heart|club|diamond)s")
_BEGINS = tuple(sign.encode() for sign in "黑红紅梅草方大小")
"""How words of cards begin: where too few of these are, no row of cards is."""
_SUIT_OF = {word.encode(): n for n, words in enumerate(_SUITS) for word in words}
_LETTER_FACE = rb"(?:[SB]J|(?:[SHCD]|\xe2\x99[\xa0\xa3\xa5\xa6])(?:10|[2-9TJQKA]))"
_LETTER_FACES = re.compile(_LETTER_FACE + rb"(?:" + _GAP + rb"{0,6}" + _LETTER_FACE + rb"){7,}")
_ONE_LETTER_FACE = re.compile(rb"([SB]J)|([SHCD]|\xe2\x99[\xa0\xa3\xa5\xa6])(10|[2-9TJQKA])")
_LETTER_SUIT = {letter.encode(): n for n, letter in enumerate("SHCD")} | {
    sign.encode(): n for n, sign in enumerate("♠♥♣♦")
}

_LETTER_SEATS = re.compile(
    rb"[NWSE](?:" + _GAP + rb"{0,6}[NWSE]){15,}|[nwse](?:" + _GAP + rb"{0,6}[nwse]){15,}"
)
_SEAT_OF = {
    **{word.encode(): ord(word[0].upper()) for word in ("north", "west", "south", "east")},
    **dict(zip(map(str.encode, "北西南东東"), b"NWSEE", strict=True)),
}
_SEAT = re.compile(_any_of(word.decode() for word in _SEAT_OF))
_LONE = re.compile(rb"([NWSE])(?<![A-Za-z0-9].)(?![A-Za-z0-9])", re.DOTALL)


def _numbers(data: bytes) -> bytes:
    rows = (_DIGITS.findall(row.group()) for row in _NUMBER.finditer(data))
    return END.join(bytes(min(int(digits), 255) for digits in row) for row in rows)


def _keyed(data: bytes) -> bytes:
    """Return what stands behind each key of JSON, wherever it comes again."""
    rows: dict[bytes, bytearray] = {}
    for name, value in _KEYED.findall(data):
        byte = min(int(value), 255) if value.isdigit() else value[0]
        rows.setdefault(name, bytearray()).append(byte)
    return END.join(bytes(row) for row in rows.values() if len(row) > 7)


def _faces(data: bytes) -> bytes:
    return _rows(sorted([*_signed(data), *_in_chinese(data), *_in_english(data)]))


def _signed(data: bytes) -> Iterator[Word]:
    if data.count(b"\xe2\x99") < _LEAST - _MOST_JOKERS:
        return
    for joker in _LONE_JOKER.finditer(data):
        yield joker.start(), joker.end(), _LETTER_JOKERS[joker[0].decode()]
    for card in _SIGN.finditer(data):
        yield card.start(), card.end(), _SUIT_OF[card[1]] * 13 + _RANK_OF[card[2].decode()]


def _in_chinese(data: bytes) -> Iterator[Word]:
    if sum(map(data.count, _BEGINS)) < _LEAST:
        return
    for card in _CHINESE.finditer(data):
        face = (
            _JOKERS[card[3].decode()]
            if card[3]
            else _SUIT_OF[card[1]] * 13 + _RANK_OF[card[2].decode()]
        )
        yield card.start(), card.end(), face


def _in_english(data: bytes) -> Iterator[Word]:
    small = data.lower()
    if small.count(b" of ") < _LEAST - _MOST_JOKERS:
        return
    for joker in _ENGLISH_JOKER.finditer(small):
        yield joker.start(), joker.end(), _JOKERS[joker[0].decode()]
    for card in _ENGLISH_SUIT.finditer(small):
        before = small[max(0, card.start() - 5) : card.start()]
        rank = next((word for word in _ENGLISH_RANKS if before.endswith(word)), None)
        if rank is not None:
            face = _ENGLISH.index(card[1].decode()) * 13 + _ENGLISH_RANK[rank.decode()]
            yield card.start() - len(rank), card.end(), face


def _letter_faces(data: bytes) -> bytes:
    return END.join(
        bytes(
            _LETTER_JOKERS[joker.decode()]
            if joker
            else _LETTER_SUIT[suit] * 13 + _RANK_OF[rank.decode()]
            for joker, suit, rank in _ONE_LETTER_FACE.findall(row.group())
        )
        for row in _LETTER_FACES.finditer(data)
    )


def _seats(data: bytes) -> bytes:
    small = data.lower()
    if sum(map(small.count, _SEAT_OF)) < _LEAST:
        return b""
    return _rows((seat.start(), seat.end(), _SEAT_OF[seat[0]]) for seat in _SEAT.finditer(small))


def _letter_seats(data: bytes) -> bytes:
    rows = (re.sub(rb"[^NWSE]", b"", row.group().upper()) for row in _LETTER_SEATS.finditer(data))
    return END.join(rows)


def _lone_letters(data: bytes) -> bytes:
    """Return letters of pockets that stand for themselves among other words, such as a log's."""
    return _rows((letter.start(), letter.end(), letter[1][0]) for letter in _LONE.finditer(data))


def _rows(words: Iterable[Word]) -> bytes:
    """Return what words mean, those together that are not far from each other."""
    rows, last = [bytearray()], 0
    for start, end, means in words:
        if start - last > _FAR:
            rows.append(bytearray())
        rows[-1].append(means)
        last = end
    return END.join(bytes(row) for row in rows if len(row) >= _LEAST)


# -- frames of the serial line ---------------------------------------------------

_FRAME = re.compile(rb"[\x01-\x7e]" + bytes((protocol.EVENT,)) + rb"[^\x00]{22,60}(?=\x00)")
_READ_BODY = re.compile(
    bytes((protocol.READ,)) + rb"[\x01-\xff]{3}\x00([\x00-\x35])[\x00-\x02][\x00\x01][\x00-\xff]",
    re.DOTALL,
)
"""A READ in a frame: code, totals, index, place, then face, back, face up, confidence."""


def _frames(data: bytes) -> bytes:
    """Return the faces of READ events of the line, framed or not."""
    faces = bytearray()
    for block in _FRAME.findall(data):
        payload = framing.cobs_decode(block)
        body = None if payload is None else _READ_BODY.search(payload)
        faces += b"" if body is None else body[1]
    return END.join(
        (
            bytes(faces),
            _rows((body.start(), body.end(), body[1][0]) for body in _READ_BODY.finditer(data)),
        )
    )


_GATE = re.compile(rb"\x03(?=([\x01-\xff])([\x00-\xff])\1([\x00-\x03]))", re.DOTALL)
"""A GATE as it goes into a frame, and into the journal's groups: code, totals, index, place."""


def _gates(data: bytes) -> bytes:
    """Return the pockets of GATE events, of the line or of the journal's groups.

    The next one of a row is that of the next card, however far behind: a group has eight cards.
    """
    rows, last = [bytearray()], 0
    for gate in _GATE.finditer(data):
        index, landed = gate[1][0], gate[2][0]
        if not 1 <= index - landed <= 2:
            continue
        if index != last + 1:
            rows.append(bytearray())
        rows[-1].append(b"NWSE"[gate[3][0]])
        last = index
    return END.join(bytes(row) for row in rows if len(row) >= _LEAST)


_WORDS: dict[str, Callable[[bytes], bytes]] = {
    "numbers": _numbers,
    "behind keys": _keyed,
    "cards": _faces,
    "letters of cards": _letter_faces,
    "seats": _seats,
    "letters of seats": _letter_seats,
    "lone letters": _lone_letters,
}
_EVENTS: dict[str, Callable[[bytes], bytes]] = {"frames": _frames, "gates": _gates}

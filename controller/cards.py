"""Ranks, suits and faces as numbers and text.

A face is one number, 0..53, the same as on the serial line (drivers/firmware/protocol.py). It is
suit * 13 + rank for spades, hearts, clubs, diamonds and ranks 2…A, then the two jokers. A face does
not identify the pack of a card: two equal cards of two packs have the same face.
"""

Face = int

RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS = ("♠", "♥", "♣", "♦")
SMALL_JOKER: Face = 52
BIG_JOKER: Face = 53
FACE_COUNT = 54

_JOKERS = {SMALL_JOKER: "SJ", BIG_JOKER: "BJ"}
_SUIT_LETTERS = dict(zip("SHCD", SUITS, strict=True))
_RANK_LETTERS = {"T": "10"}


def face_text(face: Face) -> str:
    """Return the text of a face as people write it, such as "♠A", "♥10" or "SJ" (small joker).

    Raises ValueError for a number that is not a face.
    """
    if not 0 <= face < FACE_COUNT:
        raise ValueError(f"a face is 0..{FACE_COUNT - 1}, not {face}")
    if face in _JOKERS:
        return _JOKERS[face]
    suit, rank = divmod(face, len(RANKS))
    return SUITS[suit] + RANKS[rank]


def parse_face(text: str) -> Face:
    """Return the face that a text such as "♠A", "SA", "H10", "HT" or "BJ" names.

    "SJ" is the small joker. The jack of spades can be written only as "♠J". Raises ValueError for
    any other text.
    """
    word = text.strip().upper()
    if word in _FACE_BY_TEXT:
        return _FACE_BY_TEXT[word]
    suit = _SUIT_LETTERS.get(word[:1], word[:1])
    rank = _RANK_LETTERS.get(word[1:], word[1:])
    try:
        return _FACE_BY_TEXT[suit + rank]
    except KeyError:
        raise ValueError(f'no card is called "{text}": write ♠A, H10, SJ or BJ') from None


def composition(packs: int, jokers: bool) -> tuple[int, ...]:
    """Return how many cards of each face a set of `packs` packs has, with or without jokers."""
    return (packs,) * SMALL_JOKER + (packs if jokers else 0,) * 2


def pip_value(face: Face) -> int | None:
    """Return the value of a turned-up card as a number (A is 1, K is 13), or None for a joker.

    A card from 2 to 10 has its own number. J is 11 and Q is 12. No rulebook gives these values,
    so they are provisional.
    """
    if face in _JOKERS:
        return None
    rank = RANKS[face % len(RANKS)]
    return {"A": 1, "J": 11, "Q": 12, "K": 13}.get(rank) or int(rank)


_FACE_BY_TEXT = {face_text(face): face for face in range(FACE_COUNT)}

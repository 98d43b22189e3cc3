"""What was hidden in a match that is over, and until when: from the simulator, keys and seeds."""

import base64
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ahocorasick_rs import BytesAhoCorasick, Implementation

from controller.cards import RANKS, face_text, parse_face
from controller.deal import sequence as fair
from controller.journal.entries import JournalEntry, StoredRow, decode
from controller.journal.packed_board_events import unpack_opened
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify.card_course import CardCourse, trace_course
from controller.match.sheet_writing import rank_text_of_value
from controller.rules.ranks import is_wild, parse_level, value_at_level
from controller.vault.sealing import AttemptKey
from tests.peek import hidden
from tests.peek.evidence import Evidence
from tests.peek.hidden import Hidden
from tests.peek.onlooker import MEMORY, Seen
from tests.peek.spellings import chinese, english
from tests.peek.told import Told

_CHINESE = dict(zip(hidden.POCKETS, "北西南东", strict=True))
_AROUND_WORDS = (
    ('"', '"'),
    ("'", "'"),
    (" ", " "),
    (" ", ","),
    (" ", "."),
    (" ", "\n"),
    ("：", ""),
)


class Before:
    """What a process had in memory before the first deal: texts of the program itself."""

    def __init__(self, memory: Iterable[bytes]) -> None:
        self._memory = tuple(memory)

    def of(self, words: Collection[bytes]) -> set[bytes]:
        """Return those of the words that stood there, as text in memory may."""
        texts = [text for word in words for text in (word, word.decode().encode("utf-16-le"))]
        automaton = BytesAhoCorasick(texts, implementation=Implementation.DFA)
        return {
            tuple(words)[at // 2]
            for pages in self._memory
            for at, _, _ in automaton.find_matches_as_indexes(pages, overlapping=True)
        }


def secrets_of(
    state_dir: Path, evidence: Evidence, truths: dict[int, Seen], before: Before
) -> list[Hidden]:
    """Return all that was hidden, of every attempt whose faces somebody saw.

    `before`: what the gateway had in memory before any of it was there.
    """
    with open_read_only(state_dir / STORE_NAME) as found:
        journal: list[StoredRow] = list(found)
    told = Told.of(evidence, journal)
    rows: dict[int, dict[str, JournalEntry]] = {}
    for entry in (decode(row.body) for row in journal):
        if entry.attempt is not None:
            rows.setdefault(entry.attempt, {}).setdefault(entry.kind, entry)
    secrets: list[Hidden] = []
    for attempt, seen in truths.items():
        if "revealed" in rows.get(attempt, {}):
            secrets += _of_attempt(attempt, rows[attempt], seen, told)
    return secrets + list(_of_tributes(told, truths, before))


def letters_of(steps: dict[str, JournalEntry]) -> str:
    """Return the pockets of an attempt whose seed is known."""
    committed, revealed = steps["committed"].data, steps["revealed"].data
    commitment, seed = (bytes.fromhex(text) for text in (committed["commitment"], revealed["seed"]))
    return fair.sequence(commitment, seed, revealed["cut"], committed["deck"]["cards"])


def order_of(seen: Seen, letters: str, steps: dict[str, JournalEntry]) -> tuple[int, ...]:
    """Return the faces by place: of right hands from the pockets, else from the hopper.

    Cards lie in a pocket as they landed, and one that took a turn in the tray landed late. The tray
    gives out the last card first, as places do that were set aside: each card gets its own again.
    """
    if not seen.pockets:
        return seen.hopper
    landed = _course_of(letters, steps).cards_by_place()
    stacks = {seat: iter(stack) for seat, stack in zip(hidden.POCKETS, seen.pockets, strict=True)}
    as_they_landed = sorted(landed, key=lambda place: landed[place].index)
    faces = {place: next(stacks[letters[place - 1]]) for place in as_they_landed}
    order = tuple(faces[place + 1] for place in range(len(letters)))
    assert order[len(order) - len(seen.hopper) :] == seen.hopper
    return order


def fed_of(seen: Seen, order: tuple[int, ...], course: CardCourse) -> tuple[int, ...]:
    """Return the faces in feed order: behind those of the hopper, right hands' from the tray."""
    if not seen.pockets:
        return order
    again = (card.place for card in course.cards.values() if card.from_tray)
    return (*order, *(order[place - 1] for place in again if place))


def _course_of(letters: str, steps: dict[str, JournalEntry]) -> CardCourse:
    said = steps["revealed"].data.get("course") or steps["record"].data["events"]
    return trace_course(unpack_opened(said, steps["revealed"].attempt), len(letters))


def _of_attempt(
    attempt: int, steps: dict[str, JournalEntry], seen: Seen, told: Told
) -> Iterator[Hidden]:
    letters = letters_of(steps)
    order = order_of(seen, letters, steps)
    seed = bytes.fromhex(steps["revealed"].data["seed"])
    box = AttemptKey(seen.key, bytes)
    assert box.unseal(_raw(steps["seed"].data["box"])) == seed
    revealed, opened = ("revealed", attempt), ("record", attempt)
    yield Hidden(
        f"pockets of attempt {attempt}", hidden.pockets(letters), told.until(*revealed), 0, revealed
    )
    yield Hidden(f"seed of attempt {attempt}", hidden.key(seed), told.until(*revealed), 0, revealed)
    key = hidden.key(seen.key)
    yield Hidden(f"key of attempt {attempt}", key, told.until(*opened), 0, opened)
    fed = fed_of(seen, order, _course_of(letters, steps))
    yield Hidden(f"cards of attempt {attempt}", hidden.cards(fed), told.until(*opened), 0, opened)
    if "hands_box" in steps:
        plain = box.unseal(_raw(steps["hands_box"].data["box"]))
        nonce, record = plain[: fair.NONCE_BYTES], plain[fair.NONCE_BYTES :]
        assert record == bytes(order)
        yield Hidden(
            f"nonce of attempt {attempt}", hidden.key(nonce), told.until(*opened), 0, opened
        )
        yield Hidden(
            f"hands of attempt {attempt}",
            hidden.hands(order, letters),
            told.until(*opened),
            0,
            opened,
        )


def _of_tributes(told: Told, truths: dict[int, Seen], before: Before) -> Iterator[Hidden]:
    """Yield what each payer had to pay, in the words that a screen would have for it.

    Words are few, and some of them are public from an earlier deal or as the card that is turned
    up; those are left out. Hidden from `held` on, until all who owe a tribute have laid it.
    """
    public: set[bytes] = set()
    attempt, since = 0, 0
    for number, body in sorted(told.events.values(), key=lambda each: each[1]["n"]):
        data = body["data"]
        if body["kind"] == "released":
            attempt, since = body["attempt"], told.until("held", body["attempt"])
            turned = data.get("turned_up")
            public |= set(_names_of(turned)) if turned else set()
        if body["kind"] == "match" and data.get("event") == "TributeValued":
            words: set[bytes] = set()
            for seat, wanted in data["values"].items():
                words |= set(words_of(seat, wanted, truths[attempt]))
            words -= public
            own = before.of(words)
            what = f"tribute of attempt {attempt}"
            yield Hidden(what, tuple(words - own), number, since, is_text=True)
            yield Hidden(what, tuple(own), number, since, but_in=MEMORY, is_text=True)
            public |= words


def words_of(seat: str, wanted: int, seen: Seen) -> Iterator[bytes]:
    """Yield the ways to say what one payer owes: its rank beside his seat, and his cards of it."""
    level = parse_level(seen.level)
    rank = rank_text_of_value(wanted, level)
    yield f'"values":{{"{seat}":{wanted}'.encode()
    yield f'"values": {{"{seat}": {wanted}'.encode()
    for between in ('":"', '": "'):
        yield f'"{seat}{between}{rank}"'.encode()
    for to in hidden.POCKETS.replace(seat, ""):
        yield f'"giver":"{seat}","to":"{to}","card":"{rank}"'.encode()
        yield f"{seat}→{to} {rank}".encode()
        yield f"{_CHINESE[seat]}→{_CHINESE[to]} {rank}".encode()
        yield f"{_CHINESE[seat]}→{_CHINESE[to]}{rank}".encode()
    for face in seen.pockets[hidden.POCKETS.index(seat)]:
        if value_at_level(face, level) == wanted and not is_wild(face, level):
            yield from _names(face)


def _names_of(text: str) -> Iterable[bytes]:
    return _names(parse_face(text))


def _names(face: int) -> Iterator[bytes]:
    """Yield a card's names with what stands around a word: alone they are too short to mean it."""
    for word in (face_text(face), chinese(face), english(face), english(face, RANKS)):
        for before, behind in _AROUND_WORDS:
            yield f"{before}{word}{behind}".encode()


def _raw(text: str) -> bytes:
    return base64.b64decode(text)

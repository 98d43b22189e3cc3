"""The judge: functions that compare the true card positions with what the machine published.

The functions have no side effects and use no result of the controller. The sequence is computed
here from the text of PROOF.md, not with controller/deal, because an error there would not be found
by the same code. Each `find_` function yields lines of text about errors. No line means that all
is right.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import msgspec

from controller.cards import face_text
from controller.journal.packed_board_events import LoggedBoardEvent
from sim.campaign.ground_truth import BoardRun, CoreEvent, Passage
from sim.mechanics.cards import Cards
from sim.mechanics.pockets import TRAY
from sim.mechanics.truth import Truth

POCKETS = "NWSE"
_STREAM_BYTES = 4096
"""The number of bytes that are taken from the stream: many times the amount that a deal needs."""
_core_fields = attrgetter(*CoreEvent.__struct_fields__)
_OTHER_PLACES = ("hopper", "shuffler", "feeder", "window", "path")
UNSEEN_FAULTS = frozenset({"sensor_stuck", "sensor_late", "hopper_early", "left_in_path"})
"""Faults that can hide an extra card from the sensors (deploy/THREATS.md)."""


class JudgedCardSet(msgspec.Struct, frozen=True):
    """A complete set: `packs` packs of `faces` different faces each, all with the back `back`."""

    packs: int
    faces: int
    back: int

    @property
    def hand(self) -> int:
        """The number of cards in each of the four hands."""
        return self.packs * self.faces // len(POCKETS)


class DealPromise(msgspec.Struct, frozen=True):
    """The commitment of one attempt, the values that it is computed from, and the cut.

    The commitment is computed from the first six fields and the seed.
    """

    table_key: str
    match: str
    deal: int
    attempt: int
    profile_hash: str
    card_set: str
    commitment: str
    seed: bytes
    cut: int | None


# The cards.


def find_wrong_cards(truth: Truth, card_set: JudgedCardSet) -> Iterator[str]:
    """Yield a line if a hand has a wrong size, and lines if the four hands are no complete set."""
    pockets = truth.pockets[: len(POCKETS)]
    counts = [len(pocket) for pocket in pockets]
    if counts != [card_set.hand] * len(POCKETS):
        yield f"the pockets have {counts} cards, not {card_set.hand} each"
    yield from find_wrong_set(sum(pockets, ()), card_set)


def find_wrong_set(cards: Cards, card_set: JudgedCardSet) -> Iterator[str]:
    """Yield a line if the faces of `cards` are no complete set, and a line for wrong backs."""
    faces = Counter(card.face for card in cards)
    due = dict.fromkeys(range(card_set.faces), card_set.packs)
    if faces != due:
        more = sorted((faces - Counter(due)).elements())
        fewer = sorted((Counter(due) - faces).elements())
        yield f"the set is not complete: too many of face {more}, too few of {fewer}"
    foreign = [card.id for card in cards if card.back != card_set.back]
    if foreign:
        yield f"cards {foreign} have another back"


def find_left_behind(truth: Truth) -> Iterator[str]:
    """Yield a line for each place in the machine that has cards and is no pocket of a seat."""
    places = {name: getattr(truth, name) for name in _OTHER_PLACES}
    for name, cards in (places | {"tray": truth.pockets[TRAY]}).items():
        if cards:
            yield f"{len(cards)} cards left in the {name}"


# The sequence, computed as in PROOF.md.


def _field(value: bytes | str | int) -> bytes:
    raw = value if isinstance(value, bytes) else str(value).encode()
    return bytes(divmod(len(raw), 256)) + raw


def compute_commitment(promise: DealPromise) -> str:
    """Compute the commitment, as hex, from the other fields of `promise`. Source: PROOF.md, 1."""
    fields: tuple[bytes | str | int, ...] = (
        promise.table_key,
        promise.match,
        promise.deal,
        promise.attempt,
        bytes.fromhex(promise.profile_hash),
        promise.card_set,
    )
    context = b"".join(_field(one) for one in fields)
    tag = _field("dealtable/commit/1")
    return hashlib.sha256(tag + context + _field(promise.seed)).hexdigest()


def compute_pockets(promise: DealPromise, cards: int) -> str:
    """Compute the fair sequence: one pocket letter for each place. Source: PROOF.md, 2 to 4."""
    return _shuffle(_stream(promise), cards)


def compute_turned_up(promise: DealPromise, cards: int) -> Iterator[int]:
    """Yield the place of the card to turn up, then without end the place of each replacement.

    Source: PROOF.md, 4.
    """
    stream = _stream(promise)
    _shuffle(stream, cards)
    while True:
        yield _draw(stream, cards) + 1


def compute_hands_hash(promise: DealPromise, nonce: bytes, record: bytes) -> str:
    """Compute the hash, as hex, of commitment, `nonce` and `record` (all faces): PROOF.md, 6."""
    said = _field("dealtable/hands/1") + _field(bytes.fromhex(promise.commitment)) + _field(nonce)
    return hashlib.sha256(said + record).hexdigest()


def _stream(promise: DealPromise) -> Iterator[int]:
    said = _field("dealtable/deal/1") + _field(bytes.fromhex(promise.commitment))
    said += _field(promise.seed) + _field("" if promise.cut is None else promise.cut)
    return iter(hashlib.shake_256(said).digest(_STREAM_BYTES))


def _draw(stream: Iterator[int], bound: int) -> int:
    return next(byte for byte in stream if byte < 256 - 256 % bound) % bound


def _shuffle(stream: Iterator[int], cards: int) -> str:
    order = [pocket for pocket in POCKETS for _ in range(cards // len(POCKETS))]
    for last in range(cards - 1, 0, -1):
        there = _draw(stream, last + 1)
        order[last], order[there] = order[there], order[last]
    return "".join(order)


def compute_places(passages: Sequence[Passage], cards: int) -> dict[int, int]:
    """Return a dict from a card's id to the place in the fair sequence of its last arrival.

    A card arrives in the window. The place of an arrival from the hopper is its number. An arrival
    that landed in the tray reserves its place. An arrival from the tray takes the place that was
    reserved last, and after these the places that no arrival from the hopper reached, lowest first.
    """
    place_of: dict[int, int] = {}
    aside: list[int] = []
    hopper, place, arrival, rounds = 0, 0, 0, False
    for passage in passages:
        if passage.number != arrival:
            arrival = passage.number
            if passage.source == "hopper":
                hopper += 1
                place = hopper
            else:
                if not rounds:
                    rounds, aside = True, [*range(cards, hopper, -1), *aside]
                place = aside.pop() if aside else 0
            set_aside = False
        if passage.landed == TRAY and not set_aside:
            aside.append(place)
            set_aside = True
        place_of[passage.card.id] = place
    return place_of


def find_wrong_places(
    passages: Sequence[Passage], truth: Truth, promise: DealPromise, cards: int
) -> Iterator[str]:
    """Yield a line for each card that is in another pocket than the sequence requires.

    The sequence is computed from the seed in `promise`. Also yield a line if the commitment does
    not match the seed, or if a place was dealt twice.
    """
    if compute_commitment(promise) != promise.commitment:
        yield "the commitment is not that of this context and seed"
    sequence, place_of = compute_pockets(promise, cards), compute_places(passages, cards)
    for letter, pocket in zip(POCKETS, truth.pockets, strict=False):
        for card in pocket:
            place = place_of.get(card.id, 0)
            if not place:
                yield f"card {card.id} is in pocket {letter} and has no place"
            elif sequence[place - 1] != letter:
                right = sequence[place - 1]
                yield f"place {place} is in pocket {letter}, not in {right} as committed"
    used = Counter(
        place_of[card.id] for pocket in truth.pockets[:4] for card in pocket if card.id in place_of
    )
    yield from (f"place {place} was dealt {n} times" for place, n in used.items() if n > 1)


def find_wrong_turned_up(
    released: Mapping[str, str],
    look: tuple[Sequence[Passage], Truth],
    promise: DealPromise,
    cards: int,
    again: Collection[int],
) -> Iterator[str]:
    """Yield a line if a release has a wrong turned-up card, or a wrong seat for this card.

    `released`: `turned_up` (the card) and `leader` (the seat) of the release, if present. `look`:
    the passages and the true positions. `again`: the faces for which the rulebook requires another
    turned-up card.
    """
    if "turned_up" not in released:
        return
    lies = _by_place(*look, cards)
    for place in compute_turned_up(promise, cards):
        letter, face = lies.get(place, ("nowhere", None))
        if face is None or face not in again:
            break
    right = ("no card" if face is None else face_text(face), letter)
    if right != (released["turned_up"], released.get("leader")):
        yield f"the turned-up card is {right}, the release has {dict(released)}"


def find_wrong_hands(
    bound: str,
    opened: tuple[bytes, bytes],
    look: tuple[Sequence[Passage], Truth],
    promise: DealPromise,
    cards: int,
) -> Iterator[str]:
    """Yield a line if the recorded hands do not match their hash, and a line for wrong faces.

    `bound`: the published hash of the record. `opened`: the nonce and the record, with one face per
    place. `look`: the passages and the true positions.
    """
    nonce, record = opened
    if compute_hands_hash(promise, nonce, record) != bound:
        yield "the bound hands are not those of the record"
    lies = _by_place(*look, cards)
    wrong = [place for place, (_, face) in lies.items() if record[place - 1] != face]
    if wrong:
        yield f"the bound hands have another face at places {shorten(sorted(wrong))}"


def _by_place(
    passages: Sequence[Passage], truth: Truth, cards: int
) -> dict[int, tuple[str, int | None]]:
    """Return for each place of the fair sequence the pocket and the face of the card with it."""
    place_of = compute_places(passages, cards)
    return {
        place_of[card.id]: (letter, card.face)
        for letter, pocket in zip(POCKETS, truth.pockets, strict=False)
        for card in pocket
        if place_of.get(card.id)
    }


def shorten(numbers: Sequence[int]) -> str:
    """Return the first six of `numbers` as text. If there are more, add the count of all."""
    shown = ", ".join(map(str, numbers[:6]))
    return shown if len(numbers) <= 6 else f"{shown} … ({len(numbers)})"


DaemonEvents = tuple[Sequence[int], int]
"""The event numbers that one run of the daemon published, and the last entry of its journal."""


def find_lost_events(
    boots: Iterable[BoardRun], journal: Iterable[LoggedBoardEvent]
) -> Iterator[str]:
    """Yield a line for board events that are missing in the journal, or differ there.

    A boot that died may have lost its last events. It cannot lose events that the host allowed it
    to drop.
    """
    kept = _group_by_boot(journal)
    for boot in boots:
        known = kept.get(boot.boot, {})
        sent = {one.number: one for one in boot.events}
        due = max(known, default=0) if not boot.is_alive else len(boot.events)
        missing = [n for n in range(1, max(due, boot.kept) + 1) if n not in known]
        if missing:
            yield f"{boot.board}: events {shorten(missing)} of {len(sent)} are not in the journal"
        for number, events in known.items():
            if sent.get(number) != CoreEvent(*_core_fields(events[0])):
                yield f"{boot.board}: event {number} was {sent.get(number)}, recorded {events[0]}"


def find_doubled_events(
    boots: Iterable[BoardRun], journal: Iterable[LoggedBoardEvent]
) -> Iterator[str]:
    """Yield lines for board events that the journal has twice, or has from an unknown boot."""
    known = {boot.boot for boot in boots}
    for number, events in _group_by_boot(journal).items():
        if number not in known:
            yield f"the journal has events of boot {number}, which does not exist"
        twice = [n for n, same in events.items() if len(same) > 1]
        if twice:
            board = next(iter(events.values()))[0].board
            yield f"{board}: events {shorten(twice)} are twice in the journal"


def find_lost_public(public: Collection[int], feeds: Sequence[DaemonEvents]) -> Iterator[str]:
    """Yield a line for public entries that the feed lost, and a line for those only on the feed.

    `public`: the numbers of the journal's public entries. `feeds`: for each run of the daemon, the
    numbers that it published and the last entry of its journal. Entries that were written and not
    yet published at the end of a run are not lost: a client can request them.
    """
    told = {n for numbers, _ in feeds for n in numbers}
    untold = set(public) - told
    for numbers, wrote in feeds:
        untold -= set(range(max(numbers, default=0) + 1, wrote + 1))
    if untold:
        yield f"public entries {shorten(sorted(untold))} were not on the feed"
    if told - set(public):
        strangers = shorten(sorted(told - set(public)))
        yield f"the feed published {strangers}, which the journal does not have"


def find_doubled_public(feeds: Sequence[DaemonEvents]) -> Iterator[str]:
    """Yield a line for events that were on the feed twice or out of order."""
    numbers = [n for told, _ in feeds for n in told]
    twice = sorted(n for n, times in Counter(numbers).items() if times > 1)
    if twice:
        yield f"events {shorten(twice)} were on the feed twice"
    elif numbers != sorted(numbers):
        yield "the feed's events were not in order"


def _group_by_boot(
    journal: Iterable[LoggedBoardEvent],
) -> dict[int, dict[int, list[LoggedBoardEvent]]]:
    found: dict[int, dict[int, list[LoggedBoardEvent]]] = {}
    for event in journal:
        found.setdefault(event.boot, {}).setdefault(event.number, []).append(event)
    return found

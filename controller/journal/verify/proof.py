"""One attempt's proof, computed again: commitment, sequence, gates, counts, hands."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from controller.cards import composition, face_text, parse_face
from controller.deal.sequence import commitment, context, hands, sequence, turned_up
from controller.journal.fold import Progress
from controller.journal.verify.course import SEATS, Course
from controller.journal.verify.findings import Finding
from controller.journal.verify.rulebooks import Rulebooks

# A rulebook turns again for a handful of faces: the tenth draw in a row is one in thousands.
_REDRAWS = 10
# Digits of a hash that people compare.
_SHOWN = 16


class Unproved(Exception):
    """An entry does not hold what a proof is made of; `n` is its number."""

    def __init__(self, n: int, what: str) -> None:
        super().__init__(what)
        self.n = n


def cards_of(progress: Progress) -> int:
    """Return how many cards the attempt's set has. Raises Unproved."""
    deck = _field(progress, "committed", "deck", dict)
    return _deck(progress, deck)[2]


def drawn_sequence(progress: Progress) -> str:
    """Return the sequence that the revealed seed and the cut give. Raises Unproved."""
    seed = _hex(progress, "revealed", "seed")
    committed = _hex(progress, "committed", "commitment")
    cut = _cut(progress)
    try:
        return sequence(committed, seed, cut, cards_of(progress))
    except ValueError as error:
        raise Unproved(progress.steps["committed"].n, str(error)) from error


def check_commitment(progress: Progress, rulebooks: Rulebooks) -> Iterator[Finding]:
    """Yield what does not fit between what was promised and what was revealed."""
    promised, revealed = progress.steps["committed"], progress.steps["revealed"]
    bound_to = context(
        _field(progress, "committed", "table_key", str),
        _field(progress, "committed", "match", str),
        promised.deal or 0,
        progress.attempt,
        _hex(progress, "committed", "profile_hash"),
        _field(progress, "committed", "set", str),
    )
    seed = _hex(progress, "revealed", "seed")
    if commitment(bound_to, seed) != _hex(progress, "committed", "commitment"):
        what = "the revealed seed does not give the published commitment"
        yield Finding(revealed.n, what, "this deal was not the one that was committed to")
    if "cut" in progress.steps and revealed.data.get("cut") != progress.steps["cut"].data["cut"]:
        what = f"the revealed cut {revealed.data.get('cut')} is not the players' own"
        yield Finding(revealed.n, what, "the players' cut did not go into this deal")
    yield from _check_profile(progress, rulebooks)


def unknown_rules(progress: Progress, rulebooks: Rulebooks) -> str | None:
    """Return the name and hash of the rules it was dealt under where they are not at hand.

    Raises Unproved.
    """
    name = _field(progress, "committed", "profile", str)
    hashed = _hex(progress, "committed", "profile_hash")
    if rulebooks.find(name, hashed) is not None:
        return None
    return f"{name} {hashed.hex()[:_SHOWN]}…"


def check_gates(progress: Progress, seen: Course, drawn: str) -> Iterator[Finding]:
    """Yield every card that went elsewhere than the sequence says."""
    verdict = progress.steps["verdict"]
    right = verdict.data["outcome"] == "ok"
    placed = seen.placed()
    for place, card in sorted(placed.items()):
        if not 1 <= place <= len(drawn):
            what = f"card {card.index} has place {place}, and there are {len(drawn)}"
            yield Finding(verdict.n, what, "more cards were dealt than the set has")
        elif right and not card.gate == card.landed == drawn[place - 1]:
            what = (
                f"card {card.index} (place {place}) crossed the gate to {card.gate} and landed in "
                f"{card.landed}; the sequence says {drawn[place - 1]}"
            )
            yield Finding(verdict.n, what, "this hand is not the one that was committed to")
    missing = len(drawn) - len(placed)
    if right and missing > 0:
        what = f"{missing} places have no card that was seen to land"
        yield Finding(verdict.n, what, "the verdict does not follow from what the boards saw")


def check_counts(progress: Progress, seen: Course | None, drawn: str | None) -> Iterator[Finding]:
    """Yield totals of the verdict that differ from the sequence or from the boards' events.

    An attempt that was given up stopped counting while its last cards still moved.
    """
    verdict = progress.steps["verdict"]
    landed = verdict.data["landed"]
    if verdict.data["outcome"] == "ok" and drawn is not None:
        due: dict[str, int] = dict(Counter(drawn)) | {"tray": 0}
        if landed != due:
            what = f"landed {_counts(landed)}, and a right deal is {_counts(due)}"
            yield Finding(verdict.n, what, "these hands were not right")
    if seen is None:
        return
    pairs = {"fed": seen.fed, "refed": seen.refed} | {s: seen.landed(s) for s in SEATS}
    said = {"fed": verdict.data["fed"], "refed": verdict.data["refed"], **landed}
    for name, count in pairs.items():
        short = verdict.data["outcome"] != "ok" and said[name] <= count
        if said[name] != count and not short:
            what = f"the verdict says {name} {said[name]}, the boards' events say {count}"
            yield Finding(verdict.n, what, "the counts were not taken from what the boards saw")


def check_hands(progress: Progress) -> Iterator[Finding]:
    """Yield what does not fit between the bound hands and the opened ones."""
    opened = progress.steps["record"]
    nonce, record = _hex(progress, "record", "nonce"), _hex(progress, "record", "hands")
    committed = _hex(progress, "committed", "commitment")
    if hands(committed, nonce, record) != _hex(progress, "held", "hands"):
        what = "the opened hands are not those that were bound when they were held"
        yield Finding(opened.n, what, "hands were exchanged, or are not shown as they were")
    if progress.outcome == "ok":
        packs, jokers, _ = _deck(progress, _field(progress, "committed", "deck", dict))
        have, due = Counter(record), composition(packs, jokers)
        wrong = sorted(face for face in range(len(due)) if have[face] != due[face])
        if wrong or sum(have.values()) != sum(due):
            shown = ", ".join(f"{face_text(face)} × {have[face]}" for face in wrong) or "a blank"
            yield Finding(opened.n, f"the opened hands have {shown}", "the set was not right")


def check_turned_up(progress: Progress, drawn: str) -> Iterator[Finding]:
    """Yield a turned-up card that lies elsewhere than the draws behind the sequence say.

    Which draw it was depends on the faces a rulebook turns again; without opened
    hands any of the first few may be it.
    """
    released = progress.steps.get("released")
    if released is None or not released.data.get("turned_up"):
        return
    seed, committed = _hex(progress, "revealed", "seed"), _hex(progress, "committed", "commitment")
    draws = turned_up(committed, seed, _cut(progress), len(drawn))
    places = list(islice(draws, _REDRAWS))
    if _opened(progress):
        record, shown = _hex(progress, "record", "hands"), parse_face(released.data["turned_up"])
        places = [place for place in places if record[place - 1] == shown][:1]
    if released.data.get("leader") not in {drawn[place - 1] for place in places}:
        what = f"the turned-up card {released.data['turned_up']} was not drawn"
        yield Finding(released.n, what, "another seat should have led")


def _opened(progress: Progress) -> bool:
    return bool((progress.data("record") or {}).get("hands"))


def _check_profile(progress: Progress, rulebooks: Rulebooks) -> Iterator[Finding]:
    """Deck and cut follow from the profile, where it is at hand."""
    promised = progress.steps["committed"]
    name = _field(progress, "committed", "profile", str)
    profile = rulebooks.find(name, _hex(progress, "committed", "profile_hash"))
    if profile is None:
        return
    deck = _deck(progress, _field(progress, "committed", "deck", dict))
    if deck != (profile.deck.packs, profile.deck.jokers, profile.deck.cards):
        what = f"its set is not the one of profile {profile.name}"
        yield Finding(promised.n, what, "other cards were dealt than the rulebook says")
    cut = progress.steps.get("cut", progress.steps["revealed"])
    if cut.data["cut"] is not None and cut.data["cut"] not in profile.cuts():
        what = f"the cut {cut.data['cut']} is not one that profile {profile.name} allows"
        yield Finding(cut.n, what, "the cut was not taken from the players")


def _deck(progress: Progress, deck: dict[str, Any]) -> tuple[int, bool, int]:
    match deck:
        case {"packs": int(packs), "jokers": bool(jokers), "cards": int(cards)}:
            return packs, jokers, cards
    raise Unproved(progress.steps["committed"].n, "its deck has no packs, jokers and cards")


def _cut(progress: Progress) -> int | None:
    cut = progress.steps["revealed"].data.get("cut")
    if cut is None or (isinstance(cut, int) and cut >= 0):
        return cut
    raise Unproved(progress.steps["revealed"].n, "its cut is no number")


def _hex(progress: Progress, kind: str, name: str) -> bytes:
    try:
        return bytes.fromhex(_field(progress, kind, name, str))
    except ValueError as error:
        raise Unproved(progress.steps[kind].n, f"its {name} is no hex") from error


def _field(progress: Progress, kind: str, name: str, form: type) -> Any:
    entry = progress.steps[kind]
    value = entry.data.get(name)
    if not isinstance(value, form):
        raise Unproved(entry.n, f"{kind} has no {name}")
    return value


def _counts(landed: dict[str, int]) -> str:
    return " ".join(f"{outlet} {landed.get(outlet)}" for outlet in (*SEATS, "tray"))

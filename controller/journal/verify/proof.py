"""One attempt's proof, computed again: commitment, sequence, gates, counts, hands."""

from collections import Counter
from collections.abc import Iterator

from controller.cards import composition, face_text
from controller.deal.sequence import commitment, context, hands_commitment, sequence
from controller.journal.fold import AttemptHistory
from controller.journal.verify.course import SEATS, TRAY, CardCourse
from controller.journal.verify.evidence import RecordEvidence, misplaced_cards
from controller.journal.verify.findings import VerifyFinding
from controller.journal.verify.parts import (
    UnprovableError,
    commitment_context_of,
    cut_of,
    deck_of,
    hex_field,
    text_field,
)
from controller.journal.verify.rulebooks import ProfilesByHash
from controller.journal.wire_group import AT_READER, LANDED

# Digits of a hash that people compare.
_SHOWN_DIGITS = 16
# Which reasons come of an event that was refused, by its code (PROOF.md, 7).
_REASONS_OF_REFUSED_EVENT = {
    LANDED: frozenset(
        {
            *("WRONG_POCKET", "TRAY_FULL", "EVENT_LOST", "JAM"),
            *("DOUBLE_FEED", "UNREADABLE", "FACE_UP", "FOREIGN_BACK"),
        }
    ),
    AT_READER: frozenset({"COUNT_OVER", "EVENT_LOST"}),
}


def set_size_of(progress: AttemptHistory) -> int:
    """Return how many cards the attempt's set has. Raises Unproved."""
    return deck_of(progress)[2]


def compute_sequence(progress: AttemptHistory) -> str:
    """Return the sequence that the revealed seed and the cut give. Raises Unproved."""
    seed, committed = (
        hex_field(progress, "revealed", "seed"),
        hex_field(progress, "committed", "commitment"),
    )
    try:
        return sequence(committed, seed, cut_of(progress), set_size_of(progress))
    except ValueError as error:
        raise UnprovableError(progress.steps["committed"].n, str(error)) from error


def check_commitment(
    progress: AttemptHistory, rulebooks: ProfilesByHash
) -> Iterator[VerifyFinding]:
    """Yield what does not fit between what was promised and what was revealed."""
    revealed, bound = progress.steps["revealed"], commitment_context_of(progress)
    bound_to = context(
        bound.table_key,
        bound.match,
        bound.deal or 0,
        bound.attempt,
        bytes.fromhex(bound.profile_hash),
        bound.set,
    )
    given = commitment(bound_to, hex_field(progress, "revealed", "seed"))
    if given != hex_field(progress, "committed", "commitment"):
        what = "the revealed seed does not give the published commitment"
        yield VerifyFinding(revealed.n, what, "this deal was not the one that was committed to")
    cut = progress.steps.get("cut")
    if cut is not None and revealed.data.get("cut") != cut.data["cut"]:
        what = f"the revealed cut {revealed.data.get('cut')} is not the players' own"
        yield VerifyFinding(revealed.n, what, "the players' cut did not go into this deal")
    yield from _check_profile(progress, rulebooks)


def unknown_rules(progress: AttemptHistory, rulebooks: ProfilesByHash) -> str | None:
    """Return the name and hash of the rules it was dealt under where they are not at hand.

    Raises Unproved.
    """
    hashed = hex_field(progress, "committed", "profile_hash")
    if rulebooks.find(hashed) is not None:
        return None
    return f"{text_field(progress, 'committed', 'profile')} {hashed.hex()[:_SHOWN_DIGITS]}…"


def check_gates(
    progress: AttemptHistory, course: CardCourse, expected_sequence: str
) -> Iterator[VerifyFinding]:
    """Yield every card that went elsewhere than the sequence says."""
    verdict = progress.steps["verdict"]
    right = verdict.data["outcome"] == "ok"
    reasons = set(verdict.data["reasons"])
    # The first card that goes astray, or falls where none was due, ends the attempt.
    excused = "WRONG_POCKET" in reasons and not right and not course.strays
    for card in misplaced_cards(course, expected_sequence)[excused:]:
        due = expected_sequence[card.place - 1 : card.place] if card.place else "nothing"
        what = (
            f"card {card.index} (place {card.place}) crossed the gate to {card.gate} and landed in "
            f"{card.landed}; the sequence says {due or 'nothing'}"
        )
        yield VerifyFinding(verdict.n, what, "this hand is not the one that was committed to")
    for what in [] if "EVENT_LOST" in reasons else course.order_errors["COUNT_OVER" in reasons :]:
        yield VerifyFinding(verdict.n, what, "no card can have gone this way")
    missing = len(expected_sequence) - len(course.cards_by_place())
    if right and missing > 0:
        what = f"{missing} places have no card that was seen to land"
        yield VerifyFinding(verdict.n, what, "the verdict does not follow from what the boards saw")


def check_strays(progress: AttemptHistory, course: CardCourse) -> Iterator[VerifyFinding]:
    """Yield a right deal in which a card fell where none was due, or hung at a pocket's mouth.

    Up to the landing of its last card: what falls behind that is no card of the deal.
    """
    verdict, (strays, stuck) = progress.steps["verdict"], course.at_last_landing
    if verdict.data["outcome"] != "ok" or not (strays or stuck):
        return
    what = f"a right deal has {strays} strays and {stuck} cards that hung at a pocket's mouth"
    yield VerifyFinding(verdict.n, what, "these hands were not right")


def check_looks(progress: AttemptHistory, evidence: RecordEvidence) -> Iterator[VerifyFinding]:
    """Yield every card that went into a pocket without a look that does, or doubled.

    Of an attempt that outlived its daemon and was given up, looks may be lost.
    """
    verdict = progress.steps["verdict"]
    if verdict.data["outcome"] != "ok" and verdict.boot != progress.boot:
        return
    for card in evidence.course.cards.values():
        if card.gate in SEATS and (card.doubled or evidence.accepted_look(card) is None):
            what = f"card {card.index} went to {card.gate} without a look that does"
            yield VerifyFinding(verdict.n, what, "nobody knew what this card was")


def check_counts(
    progress: AttemptHistory, course: CardCourse | None, expected_sequence: str | None
) -> Iterator[VerifyFinding]:
    """Yield totals of the verdict that differ from the sequence or from the boards' events.

    An attempt that was given up stopped counting while its last cards still moved: its counts
    are those behind as many events as its record says, else those of some moment.
    """
    verdict = progress.steps["verdict"]
    right, landed = verdict.data["outcome"] == "ok", verdict.data["landed"]
    if right and expected_sequence is not None:
        due: dict[str, int] = dict(Counter(expected_sequence)) | {TRAY: 0}
        if landed != due:
            what = f"landed {_counts_text(landed)}, and a right deal is {_counts_text(due)}"
            yield VerifyFinding(verdict.n, what, "these hands were not right")
    said = [verdict.data["fed"], verdict.data["refed"], *(landed[o] for o in (*SEATS, TRAY))]
    dealt = progress.data("dealt")
    # With the power the daemon's ledger goes: its next run counts nothing.
    lost = not right and not any(said)
    if dealt is not None and [dealt["fed"], dealt["refed"]] != said[:2] and not lost:
        what = f"dealt says {dealt['fed']} and {dealt['refed']} fed, its verdict {said[:2]}"
        yield VerifyFinding(verdict.n, what, "one of the two was changed")
    if course is None:
        return
    counted = (progress.data("record") or {}).get("counted")
    if type(counted) is int and not 0 <= counted < len(course.counts_after):
        what = f"its record has no {counted} events"
        yield VerifyFinding(verdict.n, what, "the counts were not taken from what the boards saw")
        return
    exact = right or type(counted) is int
    counts = course.counts
    if type(counted) is int and not right:
        counts = course.counts_after[counted]
        if (
            _may_be_refused(progress, course, counted)
            and tuple(said) == course.counts_after[counted - 1]
        ):
            return
    for name, count, had in zip(("fed", "refed", *SEATS, TRAY), said, counts, strict=True):
        if count != had and (exact or tuple(said) not in course.counts_after):
            what = f"the verdict says {name} {count}, the boards' events say {had}"
            yield VerifyFinding(
                verdict.n, what, "the counts were not taken from what the boards saw"
            )


def _may_be_refused(progress: AttemptHistory, course: CardCourse, counted: int) -> bool:
    """Tell whether the event that ended an attempt may have been refused, and so is not counted.

    Not where the count at the end decided: all that it is of had been taken.
    """
    reasons = set(progress.steps["verdict"].data["reasons"])
    settled = (progress.data("record") or {}).get("settled") or {}
    if counted == 0 or "hopper_empty" in settled or "COUNT_SHORT" in reasons:
        return False
    return bool(
        reasons & _REASONS_OF_REFUSED_EVENT.get(course.event_codes[counted - 1], frozenset())
    )


def check_hands(
    progress: AttemptHistory, evidence: RecordEvidence | None
) -> Iterator[VerifyFinding]:
    """Yield what does not fit between the bound hands and the opened ones.

    `evidence`: the opened record, where there are looks to compare them with.
    """
    opened = progress.steps["record"]
    nonce, record = (
        hex_field(progress, "record", "nonce"),
        hex_field(progress, "record", "hands", None),
    )
    if hands_commitment(hex_field(progress, "committed", "commitment"), nonce, record) != hex_field(
        progress, "held", "hands"
    ):
        what = "the opened hands are not those that were bound when they were held"
        yield VerifyFinding(opened.n, what, "hands were exchanged, or are not shown as they were")
    if progress.steps["verdict"].data["outcome"] == "ok":
        packs, jokers, _ = deck_of(progress)
        have, due = Counter(record), composition(packs, jokers)
        wrong = sorted(face for face in range(len(due)) if have[face] != due[face])
        if wrong or sum(have.values()) != sum(due):
            shown = ", ".join(f"{face_text(face)} × {have[face]}" for face in wrong) or "a blank"
            yield VerifyFinding(opened.n, f"the opened hands have {shown}", "the set was not right")
    for place, card in sorted(evidence.course.cards_by_place().items() if evidence else ()):
        look = evidence.accepted_look(card) if evidence else None
        if look is not None and record[place - 1 : place] != bytes([look.face]):
            told = face_text(record[place - 1]) if record[place - 1 : place] else "nothing"
            what = f"place {place} is opened as {told}, the reader saw {face_text(look.face)} there"
            yield VerifyFinding(opened.n, what, "hands were exchanged before they were bound")


def _check_profile(progress: AttemptHistory, rulebooks: ProfilesByHash) -> Iterator[VerifyFinding]:
    """Deck and cut follow from the profile, where it is at hand."""
    promised, cards = progress.steps["committed"], deck_of(progress)
    cut = progress.steps.get("cut", progress.steps["revealed"])
    number = cut.data["cut"]
    if number is not None and not 1 <= number < cards[2]:
        yield VerifyFinding(
            cut.n, f"the cut {number} is none of {cards[2]} cards", "nobody cut there"
        )
    name = text_field(progress, "committed", "profile")
    profile = rulebooks.find(hex_field(progress, "committed", "profile_hash"))
    if profile is None:
        return
    if name != profile.name:
        what = f"its rules are called {name}, and those of this hash are {profile.name}"
        yield VerifyFinding(
            promised.n, what, "people were told of other rules than it was dealt under"
        )
    if cards != (profile.deck.packs, profile.deck.jokers, profile.deck.cards):
        what = f"its set is not the one of profile {profile.name}"
        yield VerifyFinding(promised.n, what, "other cards were dealt than the rulebook says")
    if number is not None and number not in profile.cuts():
        what = f"the cut {number} is not one that profile {profile.name} allows"
        yield VerifyFinding(cut.n, what, "the cut was not taken from the players")


def _counts_text(landed: dict[str, int]) -> str:
    return " ".join(f"{outlet} {landed.get(outlet)}" for outlet in (*SEATS, TRAY))

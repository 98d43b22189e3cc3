"""Functions that read the values of a proof from an attempt's entries, or check these values.

A function that reads a value raises UnprovableError if the value is missing or has a wrong type.
"""

from collections import Counter
from itertools import islice
from typing import Any

from controller.cards import FACE_COUNT, composition, face_text, parse_face
from controller.deal.sequence import commitment, context, hands_commitment, sequence, turn_up_places
from controller.journal.attempt_history import AttemptHistory
from controller.journal.packed_board_events import AT_READER, LANDED
from controller.journal.verify.card_course import SEATS, TRAY, CardCourse
from controller.journal.verify.reason_checks import RecordEvidence, misplaced_cards
from controller.journal.verify.verify_report import CommitmentContext, Findings, VerifyFinding
from controller.rules.profile import BigTwoProfile, Profile
from controller.rules.profile_files import ProfilesByHash


class UnprovableError(Exception):
    """The error for entry `n`, which lacks a value of the proof or has it in a wrong form."""

    def __init__(self, n: int, what: str) -> None:
        super().__init__(what)
        self.n = n


def commitment_context_of(progress: AttemptHistory) -> CommitmentContext:
    """Return the values that the attempt's commitment covers, such as table, match and deal.

    Raises UnprovableError.
    """
    return CommitmentContext(
        table_key=text_field(progress, "committed", "table_key"),
        match=text_field(progress, "committed", "match"),
        deal=progress.steps["committed"].deal,
        attempt=progress.attempt,
        profile_hash=hex_field(progress, "committed", "profile_hash").hex(),
        set=text_field(progress, "committed", "set"),
    )


def deck_of(progress: AttemptHistory) -> tuple[int, bool, int]:
    """Return the number of packs, whether they have jokers, and the number of cards of the set.

    Raises UnprovableError for a set that cannot exist.
    """
    found, n = _typed_field(progress, "committed", "deck", dict), progress.steps["committed"].n
    packs, jokers, cards = (found.get(name) for name in ("packs", "jokers", "cards"))
    if type(packs) is int and type(jokers) is bool and type(cards) is int:
        if 1 <= packs <= 4 and cards == packs * (52 + 2 * jokers):
            return packs, jokers, cards
        raise UnprovableError(n, f"no set of {packs} packs has {cards} cards")
    raise UnprovableError(n, "its deck has no packs, jokers and cards")


def cut_of(progress: AttemptHistory) -> int | None:
    """Return the cut (a number) in the entry `revealed`, or None if the deal had no cut.

    Raises UnprovableError for any other value.
    """
    cut = progress.steps["revealed"].data.get("cut")
    if cut is None or (type(cut) is int and cut >= 0):
        return cut
    raise UnprovableError(progress.steps["revealed"].n, "its cut is not a number")


def hex_field(progress: AttemptHistory, kind: str, name: str, size: int | None = 32) -> bytes:
    """Return the bytes in the hex field `name` of the attempt's entry of the kind `kind`.

    Raises UnprovableError if the field is not hex, or not `size` bytes (None: any length).
    """
    told = text_field(progress, kind, name)
    try:
        found = bytes.fromhex(told)
    except ValueError:
        found = b""
    if found.hex() != told or len(found) != (len(found) if size is None else size):
        raise UnprovableError(progress.steps[kind].n, f"its {name} is not hex of the right length")
    return found


def text_field(progress: AttemptHistory, kind: str, name: str) -> str:
    """Return the text in the field `name` of the attempt's entry of the kind `kind`.

    Raises UnprovableError if the field is missing or is not a text.
    """
    return str(_typed_field(progress, kind, name, str))


def has_open_hands(progress: AttemptHistory) -> bool:
    """Return whether the hands were held and the entry `record` shows their faces."""
    record = progress.data("record") or {}
    return "held" in progress.steps and bool(record.get("nonce") and record.get("hands"))


def _typed_field(progress: AttemptHistory, kind: str, name: str, form: type) -> Any:
    entry = progress.steps[kind]
    value = entry.data.get(name)
    if not isinstance(value, form):
        raise UnprovableError(entry.n, f"{kind} has no {name}")
    return value


# The reasons that follow from a refused event, by its code (PROOF.md §7).
_REASONS_OF_REFUSED_EVENT = {
    LANDED: frozenset(
        {
            *("WRONG_POCKET", "TRAY_FULL", "EVENT_LOST", "JAM"),
            *("DOUBLE_FEED", "UNREADABLE", "FACE_UP", "FOREIGN_BACK"),
        }
    ),
    AT_READER: frozenset({"COUNT_OVER", "EVENT_LOST"}),
}


def compute_sequence(progress: AttemptHistory) -> str:
    """Return the attempt's sequence of pocket letters, computed from its revealed seed and cut.

    Raises UnprovableError if a value is missing or impossible.
    """
    seed = hex_field(progress, "revealed", "seed")
    committed = hex_field(progress, "committed", "commitment")
    try:
        return sequence(committed, seed, cut_of(progress), deck_of(progress)[2])
    except ValueError as error:
        raise UnprovableError(progress.steps["committed"].n, str(error)) from error


def check_commitment(progress: AttemptHistory, rulebooks: ProfilesByHash) -> Findings:
    """Yield a finding if the revealed seed does not give the attempt's commitment.

    Also yield one if the revealed cut is not the cut in the entry `cut`. Then check the rulebook.
    """
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
    """Return name and hash of the attempt's rulebook as text, or None if `rulebooks` has it.

    Raises UnprovableError.
    """
    hashed = hex_field(progress, "committed", "profile_hash")
    if rulebooks.find(hashed) is not None:
        return None
    return f"{text_field(progress, 'committed', 'profile')} {hashed.hex()[:16]}…"


def check_gates(progress: AttemptHistory, course: CardCourse, expected_sequence: str) -> Findings:
    """Yield a finding for each card that went to a wrong outlet (see `misplaced_cards`).

    The first such card is allowed if it ended the attempt. Also yield a finding for events in an
    impossible order, and for places of a right deal without a landed card.
    """
    verdict = progress.steps["verdict"]
    right = verdict.data["outcome"] == "ok"
    reasons = set(verdict.data["reasons"])
    # The first card that goes to a wrong place, or lands unexpectedly, ends the attempt.
    excused = "WRONG_POCKET" in reasons and not right and not course.strays
    for card in misplaced_cards(course, expected_sequence)[excused:]:
        due = expected_sequence[card.place - 1 : card.place] if card.place else "nothing"
        what = (
            f"card {card.index} (place {card.place}) crossed the gate to {card.gate} and landed in "
            f"{card.landed}; the sequence has {due or 'nothing'}"
        )
        yield VerifyFinding(verdict.n, what, "this hand is not the one that was committed to")
    for what in [] if "EVENT_LOST" in reasons else course.order_errors["COUNT_OVER" in reasons :]:
        yield VerifyFinding(verdict.n, what, "no card can have gone this way")
    missing = len(expected_sequence) - len(course.cards_by_place())
    if right and missing > 0:
        what = f"{missing} places have no card that was seen to land"
        yield VerifyFinding(verdict.n, what, "the verdict does not follow from the boards' events")


def check_strays(progress: AttemptHistory, course: CardCourse) -> Findings:
    """Yield a finding if an attempt with the verdict "ok" had strays or stuck cards.

    A stray is a card that landed unexpectedly. Only the events up to the landing of the last card
    count. A later event does not belong to the deal.
    """
    verdict, (strays, stuck) = progress.steps["verdict"], course.at_last_landing
    if verdict.data["outcome"] != "ok" or not (strays or stuck):
        return
    what = f"a right deal has {strays} strays and {stuck} cards stuck at a pocket's mouth"
    yield VerifyFinding(verdict.n, what, "these hands were not right")


def check_looks(progress: AttemptHistory, evidence: RecordEvidence) -> Findings:
    """Yield a finding for each card that went to a pocket although no look at it was acceptable.

    A card of a double feed counts as a card without an acceptable look. Looks may be missing if
    a later run of the daemon ended the attempt. Such an attempt is not checked unless its hands are
    right.
    """
    verdict = progress.steps["verdict"]
    if verdict.data["outcome"] != "ok" and verdict.boot != progress.boot:
        return
    for card in evidence.course.cards.values():
        if card.gate in SEATS and (card.doubled or evidence.accepted_look(card) is None):
            what = f"card {card.index} went to {card.gate} without an acceptable look"
            yield VerifyFinding(verdict.n, what, "this card was not identified")


def check_counts(
    progress: AttemptHistory, course: CardCourse | None, expected_sequence: str | None
) -> Findings:
    """Yield a finding for each count in the verdict that does not follow from the board events.

    With the outcome "ok", the landings must also agree with `expected_sequence`.
    If an attempt ends early, its counts stop while its last cards still move. Then the counts of
    the verdict are those after the number of events that the record states. Without that number,
    they may be those after any of the events.
    """
    verdict = progress.steps["verdict"]
    right, landed = verdict.data["outcome"] == "ok", verdict.data["landed"]
    if right and expected_sequence is not None:
        due: dict[str, int] = dict(Counter(expected_sequence)) | {TRAY: 0}
        if landed != due:
            what = f"landed {_counts_text(landed)}, and a right deal is {_counts_text(due)}"
            yield VerifyFinding(verdict.n, what, "these hands were not right")
    totals = [verdict.data["fed"], verdict.data["refed"], *(landed[o] for o in (*SEATS, TRAY))]
    dealt = progress.data("dealt")
    # The daemon's ledger is lost with the power, so the next run counts nothing.
    lost = not right and not any(totals)
    if dealt is not None and [dealt["fed"], dealt["refed"]] != totals[:2] and not lost:
        what = f"dealt has {dealt['fed']} and {dealt['refed']} fed, its verdict {totals[:2]}"
        yield VerifyFinding(verdict.n, what, "one of the two was changed")
    if course is None:
        return
    counted = (progress.data("record") or {}).get("counted")
    if type(counted) is int and not 0 <= counted < len(course.counts_after):
        what = f"its record does not have {counted} events"
        yield VerifyFinding(verdict.n, what, "the counts were not taken from the boards' events")
        return
    exact = right or type(counted) is int
    counts = course.counts
    if type(counted) is int and not right:
        counts = course.counts_after[counted]
        refused = _may_be_refused(progress, course, counted)
        if refused and tuple(totals) == course.counts_after[counted - 1]:
            return
    for name, count, had in zip(("fed", "refed", *SEATS, TRAY), totals, counts, strict=True):
        if count != had and (exact or tuple(totals) not in course.counts_after):
            what = f"the verdict has {name} {count}, the boards' events have {had}"
            means = "the counts were not taken from the boards' events"
            yield VerifyFinding(verdict.n, what, means)


def _may_be_refused(progress: AttemptHistory, course: CardCourse, counted: int) -> bool:
    """Return whether the last board event before the verdict may be one that the table refused.

    `counted` is the number of this event, from 1. A refused event ends the attempt, and the verdict
    does not count it (PROOF.md §7).
    If the final count ended the attempt, no event was refused.
    """
    reasons = set(progress.steps["verdict"].data["reasons"])
    settled = (progress.data("record") or {}).get("settled") or {}
    if counted == 0 or "hopper_empty" in settled or "COUNT_SHORT" in reasons:
        return False
    refused = _REASONS_OF_REFUSED_EVENT.get(course.event_codes[counted - 1], frozenset())
    return bool(reasons & refused)


def check_hands(progress: AttemptHistory, evidence: RecordEvidence | None) -> Findings:
    """Yield a finding if the published hands contradict their hash, the set or the looks.

    The hash is in the entry `held`. `evidence` has the looks, or is None if there are no looks to
    compare.
    """
    opened = progress.steps["record"]
    nonce = hex_field(progress, "record", "nonce")
    record = hex_field(progress, "record", "hands", None)
    committed = hex_field(progress, "committed", "commitment")
    if hands_commitment(committed, nonce, record) != hex_field(progress, "held", "hands"):
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
            face = face_text(record[place - 1]) if record[place - 1 : place] else "nothing"
            read = face_text(look.face)
            what = f"place {place} is opened as {face}, the reader read {read} there"
            yield VerifyFinding(opened.n, what, "hands were exchanged before they were bound")


def _check_profile(progress: AttemptHistory, rulebooks: ProfilesByHash) -> Findings:
    """Yield a finding if the attempt's rulebook name, set or cut contradicts the rulebook itself.

    A cut that is impossible with this set is a finding under any rulebook.
    """
    promised, cards = progress.steps["committed"], deck_of(progress)
    cut = progress.steps.get("cut", progress.steps["revealed"])
    number = cut.data["cut"]
    if number is not None and not 1 <= number < cards[2]:
        what = f"the cut {number} is impossible with {cards[2]} cards"
        yield VerifyFinding(cut.n, what, "the players cannot have cut there")
    name = text_field(progress, "committed", "profile")
    profile = rulebooks.find(hex_field(progress, "committed", "profile_hash"))
    if profile is None:
        return
    if name != profile.name:
        what = f"its rules are called {name}, and those of this hash are {profile.name}"
        yield VerifyFinding(promised.n, what, "it was dealt under other rules than were published")
    if cards != (profile.deck.packs, profile.deck.jokers, profile.deck.cards):
        what = f"its set is not the one of profile {profile.name}"
        yield VerifyFinding(promised.n, what, "other cards were dealt than the rulebook requires")
    if number is not None and number not in profile.cuts():
        what = f"the cut {number} is not one that profile {profile.name} allows"
        yield VerifyFinding(cut.n, what, "the cut was not taken from the players")


def _counts_text(landed: dict[str, int]) -> str:
    return " ".join(f"{outlet} {landed.get(outlet)}" for outlet in (*SEATS, TRAY))


# The largest number of draws that are checked.
_MAX_DRAWS = 10
# A series of draws that is rarer than one in this number is not expected.
_MAX_ODDS = 1_000_000
_LEADER_MEANS = "another seat should have led"


def check_leader(
    progress: AttemptHistory, expected_sequence: str, profile: Profile | None
) -> Findings:
    """Yield a finding if the leader in `released` did not get the card that decides who leads.

    The deciding card is the turned-up card or, in Big Two, the leading card. The turned-up place is
    the next draw after the sequence. It is a later draw if the rulebook requires another card
    instead of the one found there. Without opened hands those faces are not known. Then every draw
    that is probable under the rulebook is accepted. Raises UnprovableError.
    """
    released = progress.steps.get("released")
    if released is None:
        return
    shown, leader = released.data.get("turned_up"), released.data.get("leader")
    if shown is None and leader is not None and isinstance(profile, BigTwoProfile):
        yield from _check_first_holder(progress, expected_sequence, profile, str(leader))
    elif shown is None and profile is None:
        return  # Under some of the unknown rules, the leader follows from a dealt card.
    elif (shown is None) != (leader is None):
        what = f"the turned-up card is {shown} and the leader {leader}"
        yield VerifyFinding(released.n, what, "one of the two was taken out or put in")
    if shown is None:
        return
    seed = hex_field(progress, "revealed", "seed")
    committed = hex_field(progress, "committed", "commitment")
    drawn = turn_up_places(committed, seed, cut_of(progress), len(expected_sequence))
    draws = list(islice(drawn, _MAX_DRAWS))
    places = draws[: _likely_draws(profile, len(expected_sequence))]
    if has_open_hands(progress):
        record = hex_field(progress, "record", "hands", None)
        found = [(place, record[place - 1]) for place in draws if record[place - 1 : place]]
        places = [place for place, face in found if face == parse_face(str(shown))][:1]
        stays = [place for place, face in found if profile and face not in profile.turnup.faces()]
        if profile is not None and places != stays[:1]:
            places = []
    if leader not in {expected_sequence[place - 1] for place in places}:
        what = f"the turned-up card {shown} was not drawn for {leader}"
        yield VerifyFinding(released.n, what, _LEADER_MEANS)


def _check_first_holder(
    progress: AttemptHistory, expected_sequence: str, profile: BigTwoProfile, leader: str
) -> Findings:
    """Yield a finding if the leader of a Big Two deal did not get the rulebook's leading card.

    If several seats got this card, the first of them must lead, from N in playing order.
    """
    if not has_open_hands(progress):
        return
    record, face = hex_field(progress, "record", "hands", None), profile.bigtwo.lead.face()
    holders = {seat for seat, lies in zip(expected_sequence, record, strict=False) if lies == face}
    first = next((seat for seat in SEATS if seat in holders), None)
    if leader != first:
        what = f"{leader} leads, and {face_text(face)} was dealt to {first}"
        yield VerifyFinding(progress.steps["released"].n, what, _LEADER_MEANS)


def _likely_draws(profile: Profile | None, cards: int) -> int:
    """Return how many draws are enough, in nearly all deals, to turn up a valid card.

    The draw is repeated if the rulebook refuses its card. One deal in a million needs more draws.
    """
    if profile is None:
        return _MAX_DRAWS
    counts = profile.deck.composition()
    again = sum(counts[face] for face in profile.turnup.faces() if face < FACE_COUNT)
    draws, chance = 1, again / cards
    while chance * _MAX_ODDS > 1 and draws < _MAX_DRAWS:
        draws, chance = draws + 1, chance * again / cards
    return draws

"""Who leads, as far as cards decide it: the turned-up card, or the card that leads."""

from collections.abc import Iterator
from itertools import islice

from controller.cards import FACE_COUNT, face_text, parse_face
from controller.deal.sequence import turn_up_places
from controller.journal.fold import AttemptHistory
from controller.journal.verify.course import SEATS
from controller.journal.verify.findings import VerifyFinding
from controller.journal.verify.parts import cut_of, has_open_hands, hex_field
from controller.rules.profile import BigTwoProfile, Profile

# Draws that are looked at where nobody knows which faces were turned again.
_MAX_DRAWS = 10
# So unlikely are more draws than are looked at, one in so many.
_MAX_ODDS = 1_000_000
_LEADER_MEANS = "another seat should have led"


def check_leader(
    progress: AttemptHistory, expected_sequence: str, profile: Profile | None
) -> Iterator[VerifyFinding]:
    """Yield a leader that the cards did not choose.

    The turned-up place is the next draw behind the sequence; the one after it, where the rulebook
    turns the face found there again. Without opened hands nobody sees which faces those were:
    then any of the draws may be it that a rulebook makes at all likely. Raises Unproved.
    """
    released = progress.steps.get("released")
    if released is None:
        return
    shown, leader = released.data.get("turned_up"), released.data.get("leader")
    if shown is None and leader is not None and isinstance(profile, BigTwoProfile):
        yield from _check_first_holder(progress, expected_sequence, profile, str(leader))
    elif shown is None and profile is None:
        return  # the rules are not here: under some, the leader follows from a dealt card
    elif (shown is None) != (leader is None):
        what = f"the turned-up card is {shown} and the leader {leader}"
        yield VerifyFinding(released.n, what, "one of the two was taken out or put in")
    if shown is None:
        return
    seed, committed = (
        hex_field(progress, "revealed", "seed"),
        hex_field(progress, "committed", "commitment"),
    )
    draws = list(
        islice(
            turn_up_places(committed, seed, cut_of(progress), len(expected_sequence)), _MAX_DRAWS
        )
    )
    places = draws[: _likely_draws(profile, len(expected_sequence))]
    if has_open_hands(progress):
        record = hex_field(progress, "record", "hands", None)
        found = [(place, record[place - 1]) for place in draws if record[place - 1 : place]]
        places = [place for place, face in found if face == parse_face(str(shown))][:1]
        stays = [place for place, face in found if profile and face not in profile.turnup.faces()]
        if profile is not None and places != stays[:1]:
            places = []
    if leader not in {expected_sequence[place - 1] for place in places}:
        yield VerifyFinding(
            released.n, f"the turned-up card {shown} was not drawn for {leader}", _LEADER_MEANS
        )


def _check_first_holder(
    progress: AttemptHistory, expected_sequence: str, profile: BigTwoProfile, leader: str
) -> Iterator[VerifyFinding]:
    """Yield a leader who is not the first, from N in playing order, to hold the card that leads."""
    if not has_open_hands(progress):
        return
    record, face = hex_field(progress, "record", "hands", None), profile.bigtwo.lead.face()
    holders = {seat for seat, lies in zip(expected_sequence, record, strict=False) if lies == face}
    first = next((seat for seat in SEATS if seat in holders), None)
    if leader != first:
        what = f"{leader} leads, and {face_text(face)} was dealt to {first}"
        yield VerifyFinding(progress.steps["released"].n, what, _LEADER_MEANS)


def _likely_draws(profile: Profile | None, cards: int) -> int:
    """Return how many draws a rulebook may need, but once in a million deals."""
    if profile is None:
        return _MAX_DRAWS
    again = sum(
        profile.deck.composition()[face] for face in profile.turnup.faces() if face < FACE_COUNT
    )
    draws, chance = 1, again / cards
    while chance * _MAX_ODDS > 1 and draws < _MAX_DRAWS:
        draws, chance = draws + 1, chance * again / cards
    return draws

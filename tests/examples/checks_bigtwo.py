"""Big Two: scores, matchpoints, places and the last card; asked in the examples 71–80."""

from controller.cards import parse_face
from controller.messages import Seat
from controller.rules.big_two import card_points, deal_scores
from controller.rules.big_two_play import BigTwoTrickState, play_objections
from controller.rules.big_two_ranking import (
    compare_deal,
    matchpoints_of,
    max_matchpoints,
    ranking_points,
)
from controller.rules.profile import BigTwoProfile
from tests.examples.table import faces

Got = dict[str, object]
ORDER: tuple[Seat, ...] = ("N", "W", "S", "E")


def points_left(profile: BigTwoProfile, *, left: list[int]) -> Got:
    """Card points for so many cards left."""
    return {"points": [card_points(cards, profile.bigtwo.scoring) for cards in left]}


def scores(
    profile: BigTwoProfile,
    *,
    left: list[int],
    opened: list[int] | None = None,
    doubled: list[int] | None = None,
) -> Got:
    """The scores of players A, B, C, D (0 to 3) for the cards they have left."""
    found = deal_scores(
        dict(zip(ORDER, left, strict=True)),
        profile.bigtwo,
        [ORDER[player] for player in opened or ()],
        [ORDER[player] for player in doubled or ()],
    )
    return {"scores": [found[seat] for seat in ORDER]}


def matchpoints(profile: BigTwoProfile, *, deal: list[int]) -> Got:
    """What entrants at one seat make of a deal by their scores."""
    rules = profile.bigtwo
    field = {f"{number:02}": score for number, score in enumerate(deal)}
    compared = {
        line.entrant: line
        for line in compare_deal([field], rules.matchpoints, rules.ranking_points)
    }
    assert matchpoints_of(field, rules.matchpoints) == {
        name: line.mp for name, line in compared.items()
    }
    return {
        "mp": [compared[name].mp for name in field],
        "of": max_matchpoints(len(deal), rules.matchpoints),
        "percent": [float(compared[name].percent) for name in field],
        "places": [compared[name].place for name in field],
    }


def place_points(profile: BigTwoProfile, *, places: list[int]) -> Got:
    """Ranking points of these places in a deal."""
    return {"points": [int(ranking_points(n, profile.bigtwo.ranking_points)) for n in places]}


def last_card(profile: BigTwoProfile, *, hand: str, next_has: int, leads: list[str]) -> Got:
    """N leads from `hand`, and W plays next with so many cards: what N may not lead, and why."""
    held = faces(hand)
    playing = BigTwoTrickState(turn="N", left=(len(held), next_has, 7, 7), opened=True)
    why = {}
    for play in leads:
        cards = [parse_face(card) for card in play.split()]
        why[play] = play_objections(playing, cards, profile.bigtwo, held)
    return {
        "legal": [play for play, against in why.items() if not against],
        "against": sorted({reason for against in why.values() for reason in against}),
    }

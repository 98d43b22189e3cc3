"""Big Two: scores, matchpoints and places; asked in the examples 71–80."""

from controller.messages import Seat
from controller.rules.big_two import card_points, deal_scores
from controller.rules.profile import BigTwoProfile
from tests.rules.bigtwo.ranking import compare_deal, matchpoints_of, max_matchpoints, ranking_points

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


def last_card(profile: BigTwoProfile, *, left: list[int]) -> Got:
    """What people must do before a player with so many cards left."""
    rules = profile.bigtwo.last_card
    return {
        "reported": [cards <= rules.report_at for cards in left],
        "largest_single": rules.largest_single,
        "may_pass": rules.may_pass,
    }

import pytest

from controller.rules.profile import GuandanProfile
from controller.rules.tribute_returns import WrongCardKind, remedy_for_wrong_card
from tests.guandan import load_guandan

STD = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")


@pytest.mark.parametrize("kind", ["tribute", "return"])
def test_before_the_first_lead_it_is_corrected_with_a_warning(kind: WrongCardKind) -> None:
    told = remedy_for_wrong_card(STD, kind, False)
    assert (told.action, told.penalty, told.needs) == ("corrected", "warning", "referee")
    assert told.article == "A18.3"


def test_a_wrong_tribute_found_in_play_costs_the_hand_if_the_chief_says_so() -> None:
    told = remedy_for_wrong_card(STD, "tribute", True)
    assert (told.action, told.penalty, told.needs) == ("dead_hand", "none", "chief")
    assert told.article == "A18.4"


def test_a_wrong_return_found_in_play_stands_provisionally() -> None:
    told = remedy_for_wrong_card(STD, "return", True)
    assert (told.action, told.penalty, told.needs) == ("stands", "warning", "chief")
    assert (told.key, told.article) == ("penalties.wrong_return_in_play", None)


@pytest.mark.parametrize("profile", [N, B], ids=["003", "004"])
@pytest.mark.parametrize("kind", ["tribute", "return"])
@pytest.mark.parametrize("in_play", [True, False])
def test_where_the_rulebook_is_silent_all_of_it_is_provisional(
    profile: GuandanProfile, kind: WrongCardKind, in_play: bool
) -> None:
    told = remedy_for_wrong_card(profile, kind, in_play)
    assert told.article is None
    assert told.key in profile.provisional

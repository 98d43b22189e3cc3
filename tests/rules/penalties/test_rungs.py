from typing import Any

import pytest

from controller.rules.penalties.proposals import MatchLost, PairDisqualified

from .charged import HUAINAN, INTERNATIONAL, answers, entry, ladder


@pytest.mark.parametrize(
    "where", [{"round": 2}, {"event": "another"}, {"pair": "3", "seat": "N", "side": "NS"}]
)
def test_a_violation_elsewhere_makes_no_foul(where: dict[str, Any]) -> None:
    record = (entry("violation", "no_report", **where),)
    assert ladder(INTERNATIONAL, "delay_tribute", record, step=2) == "violation"


def test_a_violation_of_an_earlier_match_of_the_round_counts() -> None:
    record = (entry("violation", "no_report", match="1", seat="N", side="NS"),)
    assert ladder(INTERNATIONAL, "delay_tribute", record, match="2", step=2) == "foul"


def test_a_first_disturbance_is_never_proposed_as_a_foul() -> None:
    record = (entry("violation", "no_report"), entry("foul", "hidden_cards"))
    for harmed in (False, True):
        first = answers(INTERNATIONAL, "disturbance", record, harmed=harmed)
        assert [one.penalty for one in first] == ["warning", "violation"]


def test_the_second_time_of_either_is_a_foul() -> None:
    warned = (entry("warning", "disturbance"),)
    assert ladder(INTERNATIONAL, "disturbance", warned) == "foul"
    assert (
        ladder(INTERNATIONAL, "delay_tribute", (entry("violation", "disturbance"),), step=2)
        == "foul"
    )
    assert ladder(INTERNATIONAL, "delay_tribute", warned, step=2) == "violation"


def test_choosing_the_violation_of_two_penalties_is_choosing_a_foul_the_second_time() -> None:
    record = (entry("violation", "no_report"),)
    assert [one.penalty for one in answers(INTERNATIONAL, "other", record)] == [
        "warning",
        "violation",
        "foul",
    ]


def test_without_a_ladder_of_violations_a_second_one_is_one_more() -> None:
    record = (entry("violation", "no_report"),)
    assert HUAINAN.penalties.violations_to_foul == 0
    assert ladder(HUAINAN, "delay_tribute", record, step=2) == "violation"


def test_fouls_are_counted_in_the_match() -> None:
    record = (entry("foul", "other", match="1"), entry("foul", "other", match="2"))
    assert ladder(INTERNATIONAL, "hidden_cards", record, match="2", harmed=True) == "foul"


def test_the_second_match_lost_in_an_event_expels() -> None:
    record = (entry("match_forfeit", "disobedience", round=1, seat="N", side="NS"),)
    expelled, lost = answers(INTERNATIONAL, "default", record, round=3, seat=None)
    assert (expelled.penalty, expelled.article) == ("disqualification", "A15.3.5")
    assert expelled.effects == (MatchLost("EW"), PairDisqualified("7"))
    assert lost.penalty == "match_forfeit"


@pytest.mark.parametrize("at_ms", [0, 60_000, 10**9])
def test_one_offence_can_climb_every_rung_whenever_the_others_were(at_ms: int) -> None:
    record = (
        entry("match_forfeit", "default", match="0", at_ms=at_ms),
        entry("foul", "other", at_ms=at_ms),
        entry("foul", "other", at_ms=at_ms),
        entry("violation", "no_report", at_ms=at_ms),
    )
    climbed = answers(INTERNATIONAL, "delay_tribute", record, step=2)
    assert [one.penalty for one in climbed] == [
        "disqualification",
        "match_forfeit",
        "foul",
        "violation",
    ]

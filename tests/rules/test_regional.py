import pytest

from tests.rules.regional_draw import MATCHES, TEAMS, regional_opponent


@pytest.mark.parametrize("match", range(1, MATCHES + 1))
def test_everybody_meets_one_who_meets_him(match: int) -> None:
    for team in range(1, TEAMS + 1):
        other = regional_opponent(team, match)
        assert other != team
        assert regional_opponent(other, match) == team


def test_nobody_meets_the_same_team_twice() -> None:
    for team in range(1, TEAMS + 1):
        assert len({regional_opponent(team, match) for match in range(1, MATCHES + 1)}) == MATCHES


@pytest.mark.parametrize(
    ("team", "match", "other"),
    [(1, 1, 32), (2, 1, 31), (16, 1, 17), (1, 2, 31), (2, 2, 30), (16, 2, 32), (1, 3, 30),
     (15, 3, 16), (31, 3, 32)],
)  # fmt: skip
def test_the_best_meet_the_last(team: int, match: int, other: int) -> None:
    assert regional_opponent(team, match) == other


@pytest.mark.parametrize(("team", "match"), [(0, 1), (33, 1), (1, 0), (1, 4)])
def test_a_team_or_match_that_there_is_not_is_refused(team: int, match: int) -> None:
    with pytest.raises(ValueError, match=f"team {team}, match {match}"):
        regional_opponent(team, match)

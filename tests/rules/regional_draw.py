"""The pairings of the regional stage of seed 004: 32 teams, three matches.

The Chinese and English texts of the seed differ in match 2, and neither describes match 3
completely. This module uses the reading that fits both texts (provisional): the numbers of two
opponents add up to 33 in match 1, to 32 in match 2 and to 31 in match 3. The two teams left over in
a match play each other.

No program pairs teams yet. The worked examples check this reading of the rulebook.
"""

TEAMS = 32
MATCHES = 3


def regional_opponent(team: int, match: int) -> int:
    """Return the number of the team that `team` (1…32) meets in `match` (1…3).

    In match 1 the best team of the region meets the last. In each later match the best team meets
    the next higher team in the list. Raises ValueError if the team or the match does not exist.
    """
    if not 1 <= team <= TEAMS or not 1 <= match <= MATCHES:
        raise ValueError(f"team {team}, match {match}: there are teams 1…32 and matches 1…3")
    total = TEAMS + 2 - match
    if _is_paired(team, total):
        return total - team
    return next(
        other for other in range(1, TEAMS + 1) if other != team and not _is_paired(other, total)
    )


def _is_paired(team: int, total: int) -> bool:
    return 1 <= total - team <= TEAMS and total - team != team

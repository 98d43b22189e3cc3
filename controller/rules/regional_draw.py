"""Who meets whom in the regional stage of seed 004: 32 teams, three matches.

Its Chinese and English differ in match 2 and neither says match 3 to the end: that pairs
add up to 32, then to 31, and that the two teams left over meet is the reading which fits
both texts (provisional).
"""

TEAMS = 32
MATCHES = 3


def regional_opponent(team: int, match: int) -> int:
    """Return the number of the team that `team` (1…32) meets in `match` (1…3).

    The best of the region meets the last, and one less far down in each later match.
    Raises ValueError for a number that there is not.
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

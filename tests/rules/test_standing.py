"""Levels, A, failures and penalties: how two sides stand after a deal."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import Side
from controller.rules.deal_result import DealResult, ForfeitedDeal, parse_finish
from controller.rules.match_standing import (
    LevelReached,
    MatchStanding,
    PerSide,
    PlayedDeal,
    apply_level_penalty,
    has_passed_a,
    initial_standing,
    level_due,
    levels_gained,
    standing_after_deal,
)
from controller.rules.profile import GuandanProfile
from controller.rules.ranks import ACE, PAST_A, TWO
from controller.seats import other_side
from tests.guandan import load_guandan
from tests.rows import each_row

INTL = load_guandan("international-000")
N = load_guandan("huainan-2013-003")
B = load_guandan("bcta-004")
GUANDAN = [INTL, load_guandan("huaian-2017-001"), N, B]

K = ACE - 1
R12, R13, R14 = parse_finish("NS"), parse_finish("NWS"), parse_finish("NWE")


def ruled(profile: GuandanProfile, **levels: object) -> GuandanProfile:
    """A rulebook with other levels."""
    return msgspec.structs.replace(
        profile, levels=msgspec.structs.replace(profile.levels, **levels)
    )


def standing(ns: int, ew: int, owner: Side | None = "NS", **more: object) -> MatchStanding:
    """Two sides at their levels."""
    return msgspec.structs.replace(MatchStanding(PerSide(ns, ew), owner), **more)


def played(
    profile: GuandanProfile, before: MatchStanding, result: DealResult, row: int = 9
) -> MatchStanding:
    """After a deal at the level that was due."""
    return standing_after_deal(
        profile, before, PlayedDeal(level_due(profile, before), before.owner, result), row
    )


# -- the ladder ---------------------------------------------------------------


@each_row("profile", GUANDAN)
@each_row(("order", "steps"), [("NS", 3), ("NWS", 2), ("NWE", 1)])
def test_ups_side_alone_climbs(profile: GuandanProfile, order: str, steps: int) -> None:
    after = played(profile, initial_standing(profile), parse_finish(order))
    assert after.levels == PerSide(2 + steps, 2)
    assert (after.owner, level_due(profile, after), after.deals) == ("NS", 2 + steps, 1)
    assert after.previous == parse_finish(order)


def test_a_forfeited_deal_counts_as_a_double_down() -> None:
    assert levels_gained(INTL, ForfeitedDeal("NS")) == 3
    after = played(INTL, initial_standing(INTL), ForfeitedDeal("NS"))
    assert (after.levels, after.owner) == (PerSide(2, 5), "EW")


def test_the_winners_play_their_own_level_next() -> None:
    assert level_due(INTL, played(INTL, standing(8, 5), parse_finish("WE"))) == 8
    assert level_due(INTL, played(INTL, standing(8, 5), parse_finish("WNS"))) == 6


@each_row("level", range(TWO, K + 1))
def test_nobody_climbs_past_a_that_he_has_not_played(level: int) -> None:
    after = played(INTL, standing(level, 2), R12)
    assert min(level + 3, ACE) == after.levels.NS
    assert after.won is None


def test_an_event_may_demand_that_other_levels_are_played() -> None:
    profile = ruled(INTL, must_play=["5", "10", "J", "A"])
    assert played(profile, standing(4, 2), R12).levels.NS == 5
    assert played(profile, standing(5, 2), R12).levels.NS == 8
    assert played(profile, standing(8, 2), R12).levels.NS == 10
    assert played(profile, standing(10, 2), R12).levels.NS == 11


def test_a_match_starts_at_the_level_of_its_rulebook() -> None:
    assert initial_standing(ruled(INTL, start="10")).levels == PerSide(10, 10)


# -- passing A ----------------------------------------------------------------


@each_row("profile", GUANDAN)
@each_row(("result", "passes"), [(R12, True), (R13, True), (R14, False)])
def test_a_is_passed_by_up_with_a_partner_who_is_not_last(
    profile: GuandanProfile, result: DealResult, passes: bool
) -> None:
    after = played(profile, standing(ACE, 6), result)
    assert (after.levels.NS, after.won) == ((PAST_A, "NS") if passes else (ACE, None))


def test_with_both_at_a_only_the_owner_of_the_level_passes() -> None:
    after = played(INTL, standing(ACE, ACE, "EW"), R12)  # example 88
    assert (after.levels, after.won, after.owner) == (PerSide(ACE, ACE), None, "NS")
    assert played(INTL, after, R12).won == "NS"
    anybody = ruled(INTL, a_own_level_only=False)
    assert played(anybody, standing(ACE, ACE, "EW"), R12).won == "NS"


def test_who_stands_at_a_does_not_pass_it_in_a_deal_of_another_level() -> None:
    before = standing(ACE, 6, "EW")
    assert not has_passed_a(INTL, before, PlayedDeal(6, "EW", R12))
    assert not has_passed_a(ruled(INTL, a_own_level_only=False), before, PlayedDeal(6, "EW", R12))


def test_who_was_set_back_while_a_was_played_does_not_pass_it() -> None:
    after = standing_after_deal(N, standing(K, 6), PlayedDeal(ACE, "NS", R12), 9)
    assert (after.levels.NS, after.won) == (ACE, None)


@pytest.mark.parametrize("passes", [True, False])
def test_a_forfeited_deal_passes_a_where_the_rulebook_lets_it(passes: bool) -> None:
    profile = ruled(INTL, a_forfeited_deal_passes=passes)
    assert (played(profile, standing(ACE, 6), ForfeitedDeal("EW")).won == "NS") == passes


def test_who_passed_first_has_won() -> None:
    after = played(INTL, standing(PAST_A, ACE, "EW", won="NS"), parse_finish("WE"))
    assert (after.won, after.levels) == ("NS", PerSide(PAST_A, PAST_A))


# -- failures at A ------------------------------------------------------------


def failed(profile: GuandanProfile, before: MatchStanding, *orders: str) -> MatchStanding:
    """Deals at A, one after the other, each at NS's."""
    for order in orders:
        at_a = msgspec.structs.replace(before, owner="NS")
        before = standing_after_deal(profile, at_a, PlayedDeal(ACE, "NS", parse_finish(order)), 9)
    return before


def test_every_deal_at_ones_own_a_without_passing_is_a_failure() -> None:
    assert failed(N, standing(ACE, 6), "NWE", "WE").failures == PerSide(2, 0)


def test_a_deal_below_a_or_at_the_others_a_is_none() -> None:
    assert played(N, standing(K, 6), R14).failures == PerSide()
    assert played(N, standing(ACE, ACE, "EW"), R12).failures == PerSide(0, 1)
    assert (
        standing_after_deal(N, standing(K, 6), PlayedDeal(ACE, "NS", R14), 9).failures == PerSide()
    )


def test_three_failures_send_back_to_the_start_and_are_forgotten_in_003() -> None:
    after = failed(N, standing(ACE, 6), "NWE", "NWE", "NWE")
    assert (after.levels, after.failures, after.won) == (PerSide(TWO, 6), PerSide(), None)
    assert after.first_row_at_level("NS", 3) == 0, "what was reached before counts no more"


def test_three_failures_lose_the_match_in_004() -> None:
    twice = failed(B, standing(ACE, 6), "NWE", "WE")
    assert (twice.points, twice.won) == (PerSide(0, 25 + 20 + 50), None)
    assert failed(B, twice, "WE").won == "EW"


def test_failures_do_not_count_in_000() -> None:
    after = failed(INTL, standing(ACE, 6), *["NWE"] * 9)
    assert (after.failures, after.won) == (PerSide(), None)


def test_a_row_of_failures_may_have_to_be_unbroken() -> None:
    profile = ruled(N, a_fail_counts="consecutive")
    twice = failed(profile, standing(ACE, 6), "NWE", "NWE")
    assert twice.failures.NS == 2
    between = standing_after_deal(profile, twice, PlayedDeal(6, "EW", parse_finish("WE")), 9)
    assert between.failures.NS == 0
    other = standing_after_deal(
        profile, standing(ACE, ACE, failures=PerSide(2, 0)), PlayedDeal(ACE, "EW", R12), 9
    )
    assert other.failures == PerSide(0, 1)
    assert (
        standing_after_deal(N, twice, PlayedDeal(6, "EW", parse_finish("WE")), 9).failures.NS == 2
    )


def test_an_extra_deal_counts_no_failure() -> None:
    before = standing(ACE, ACE, failures=PerSide(2, 0))
    after = standing_after_deal(B, before, PlayedDeal(ACE, "NS", R14, extra=True), 9)
    assert (after.failures, after.won) == (PerSide(2, 0), None)


# -- points of 004, and who came first ----------------------------------------


def test_deals_are_worth_points_in_004_alone() -> None:
    for order, points in (("WE", 25), ("WNE", 15), ("WNS", 5)):
        assert played(B, standing(5, 5), parse_finish(order)).points == PerSide(0, points)
        assert played(INTL, standing(5, 5), parse_finish(order)).points == PerSide()


def test_the_row_in_which_a_level_was_reached_is_kept() -> None:
    after = played(N, initial_standing(N), R12, row=1)
    assert after.first_row_at_level("NS", 5) == 1
    assert after.first_row_at_level("EW", TWO) == 0
    after = played(N, after, parse_finish("WE"), row=4)
    assert (after.first_row_at_level("NS", 5), after.first_row_at_level("EW", 5)) == (1, 4)


def test_a_level_lost_again_by_a_penalty_was_reached_nevertheless() -> None:
    first = played(N, initial_standing(N), parse_finish("WE"), row=1)
    more = played(N, first, parse_finish("WNS"), row=2)
    fallen = apply_level_penalty(N, apply_level_penalty(N, more, "EW", -1, 3), "NS", 3, 4)
    assert fallen.levels == PerSide(5, 5)
    assert (fallen.first_row_at_level("EW", 5), fallen.first_row_at_level("NS", 5)) == (1, 4)


def test_the_first_deal_is_played_at_the_start_whatever_a_penalty_changed() -> None:
    assert level_due(N, apply_level_penalty(N, initial_standing(N), "NS", 1, 1)) == TWO
    assert level_due(N, apply_level_penalty(N, initial_standing(N), "EW", 1, 1)) == TWO


def test_who_stays_at_a_has_reached_it_before() -> None:
    after = played(INTL, standing(ACE, 6, reached=(LevelReached("NS", ACE, 3),)), R14, row=7)
    assert after.first_row_at_level("NS", ACE) == 3


# -- penalties ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "steps", "then"),
    [(5, 1, 6), (5, -1, 4), (TWO, -1, TWO), (ACE, 1, ACE), (K, 3, ACE), (4, -3, TWO)],
)
def test_a_penalty_moves_between_2_and_a(level: int, steps: int, then: int) -> None:
    after = apply_level_penalty(N, standing(level, 7), "NS", steps, 9)
    assert after.levels == PerSide(then, 7)
    assert bool(after.reached) == (then != level)
    assert (after.owner, after.deals, after.won) == ("NS", 0, None)


@pytest.mark.parametrize("steps", [-1, 1, 3])
def test_a_penalty_does_not_move_a_side_past_a(steps: int) -> None:
    before = standing(PAST_A, 7, won="NS")
    assert apply_level_penalty(N, before, "NS", steps, 9) == before


def test_bounds_are_the_rulebooks() -> None:
    bounds = msgspec.structs.replace(N.penalties, level_bounds=("3", "K"))
    profile = msgspec.structs.replace(N, penalties=bounds)
    assert apply_level_penalty(profile, standing(4, 7), "NS", -3, 9).levels.NS == 3
    assert apply_level_penalty(profile, standing(12, 7), "NS", 3, 9).levels.NS == K


# -- any match ----------------------------------------------------------------

ORDERS = ["NS", "NWS", "NWE", "WE", "WNE", "WNS", "SEN", "ENW"]


@given(
    st.sampled_from(GUANDAN),
    st.lists(st.tuples(st.sampled_from(ORDERS), st.booleans()), max_size=60),
)
def test_levels_stay_on_the_ladder_and_only_winners_move_up(
    profile: GuandanProfile, deals: list[tuple[str, bool]]
) -> None:
    now = initial_standing(profile)
    for row, (order, forfeited) in enumerate(deals, 1):
        result: DealResult = ForfeitedDeal("NS") if forfeited else parse_finish(order)
        winners, losers = result.winners, other_side(result.winners)
        before, now = now, played(profile, now, result, row)
        assert min(now.levels.NS, now.levels.EW) >= TWO
        assert max(now.levels.NS, now.levels.EW) <= PAST_A
        assert 0 <= now.levels.of(winners) - before.levels.of(winners) <= 3 or (
            profile.levels.a_fail_then == "back_to_2" and now.levels.of(winners) == TWO
        )
        assert now.levels.of(losers) in (before.levels.of(losers), TWO)
        assert (now.levels.of(winners) == PAST_A) == (
            now.won == winners and before.levels.of(winners) >= ACE and now.levels.of(winners) > ACE
        )
        assert now.owner == winners
        if now.won:
            break

"""The ruling desk in a match: fouls and other penalties, and who may decide them."""

import msgspec
import pytest

from controller.match import match_events
from controller.match.match_effects import DealDue, RefereeCalled
from controller.match.phase import MatchPhase
from controller.match.refusals import RefusedError
from controller.match.ruling_desk import current_record, legal_proposals, require_possible_charge
from controller.match.sheet_rows import CorrectionRow, DealRow, LeaderRow
from controller.messages import Role, Seat
from controller.rules.deal_result import ForfeitedDeal, parse_finish
from controller.rules.penalties.proposals import DeadHand
from tests.rows import each_row

from .people import charge_of
from .table import INTL, B, N, Table, varied

# -- a foul --------------------------------------------------------------------


def test_a_proposed_foul_does_nothing() -> None:
    table = Table().started().in_play().charged("N", "foul")
    assert (table.phase, table.match.sheet, table.said) == (MatchPhase.PLAY, (), ())


def test_a_foul_approved_by_the_chief_forfeits_the_deal_and_the_other_side_names_who_leads() -> (
    None
):
    table = Table().started().played("NS").in_play().ruled("NS", "foul")
    assert table.row.result == ForfeitedDeal("NS")
    assert (table.levels, table.phase) == ((5, 5), MatchPhase.FORFEIT)
    assert table.effect(RefereeCalled).reason == "name_leader"
    assert table.happens(match_events.LeaderNamed, seat="S").refused == "OTHER_SIDE"
    table.named("W")
    assert table.match.duties is not None
    assert (table.phase, table.match.duties.cutter) == (MatchPhase.CUT, "W")
    assert table.rows(LeaderRow)[0].leader == "W"
    table.released().counted()
    assert table.match.leader == "W"  # and no tribute


def test_a_foul_needs_the_chief() -> None:
    table = Table().started().in_play().charged("N", "foul")
    approve = match_events.RulingApproved
    by_referee = table.happens(approve, id="R1", by="Ref", role=Role.REFEREE)
    assert by_referee.refused == "NEEDS_CHIEF"
    table.does(approve, id="R1", by="Chief", role=Role.REFEREE, verbal=True)
    assert table.phase is MatchPhase.FORFEIT
    table.does(match_events.VerbalRulingConfirmed, id="R1", by="Chief", role=Role.CHIEF)
    assert table.match.rulings[0].confirmed_by == "Chief"


def test_a_foul_before_the_release_ends_a_deal_that_never_began() -> None:
    table = Table().started().played("NS").dealt().ruled("EW", "foul")
    assert table.row.began_ms is None


def test_a_foul_in_the_middle_of_returns_keeps_what_was_paid() -> None:
    table = Table().started().played("NS").valued().does(match_events.ReturnLaid, seat="N", value=4)
    table.ruled("EW", "foul")
    assert [(one.giver, one.to) for one in table.row.tribute] == [("W", "N"), ("E", "S")]
    assert [(one.giver, one.to) for one in table.row.returns] == [("N", "W")]


def test_a_foul_of_an_earlier_deal_rewrites_its_row_and_leaves_later_ones() -> None:
    table = Table().started().played("NWS", "NS").ruled("NS", "foul", deal=1)
    (row,) = table.rows(CorrectionRow)
    assert (row.was, row.result, row.choice) == (
        parse_finish("NWS"),
        ForfeitedDeal("NS"),
        "from_now",
    )
    assert table.levels == (5, 5)
    assert table.phase is MatchPhase.CUT


def test_a_foul_of_the_last_deal_takes_back_the_deal_that_was_due() -> None:
    table = Table().started().played("NS").dealt().ruled("NS", "foul", deal=1)
    assert (table.phase, table.levels) == (MatchPhase.FORFEIT, (2, 5))
    assert table.named("E").effect(DealDue).deal == 2
    assert table.played("NS").row.leader == "E"


def test_a_deal_is_forfeited_once() -> None:
    table = Table().started().in_play().ruled("NS", "foul").ruled("EW", "foul", deal=1)
    assert table.row.result == ForfeitedDeal("NS")
    assert table.rows(CorrectionRow) == []
    assert len(current_record(table.match)) == 2  # both are in the record


def test_a_foul_before_any_deal_has_no_deal_to_forfeit() -> None:
    table = Table().seated().charged("N", "foul").approved()
    assert table.refused == "NOT_BEGUN"
    assert (table.match.rulings[0].state, table.match.sheet) == ("proposed", ())


def test_a_forfeited_deal_cannot_be_taken_back_but_its_result_corrected() -> None:
    table = Table().started().in_play().ruled("NS", "foul")
    assert table.overturned().refused == "IT_ENDED_A_DEAL"
    table.corrected(1, "NS")
    assert (table.phase, table.levels) == (MatchPhase.CUT, (5, 2))


def test_a_leader_named_after_a_deal_does_not_outlive_its_result() -> None:
    table = Table().started().in_play().ruled("NS", "foul").named("E").corrected(1, "NS")
    assert table.match.follows == parse_finish("NS")
    table.ruled("EW", "foul", deal=1)  # now NS name, and E is none of them
    assert table.match.standing.previous == ForfeitedDeal("EW")
    assert table.named("E").refused == "OTHER_SIDE"


def test_a_leader_named_after_a_void_deal_leads_nothing() -> None:
    table = Table().started().played("WE").in_play().ruled("NS", "foul").named("E")
    table.corrected(1, "WNE", "void_later").ruled("NS", "foul", deal=1)
    assert table.match.standing.previous == ForfeitedDeal("NS")
    assert table.phase is MatchPhase.FORFEIT
    table.named("W")  # but one named now does
    assert (table.levels, table.match.follows) == ((2, 5), ForfeitedDeal("NS", "W"))
    assert [row.deal for row in table.rows(LeaderRow)] == [2, 1]


# -- who may, and what about ---------------------------------------------------


def test_a_charge_is_about_this_match_and_its_pairs() -> None:
    table = Table().started().in_play()
    charge = charge_of(table.state, "N", "other")
    proposal = legal_proposals(table.match, charge)[0]
    for wrong in ({"match": "M9"}, {"pair": "P9"}):
        other = msgspec.structs.replace(charge, **wrong)
        assert table.proposed(other, proposal).refused == "OTHER_SIDE"


def test_a_proposal_must_be_one_of_the_legal_ones() -> None:
    table = Table().started().in_play().charged("N", "warning")
    bent = msgspec.structs.replace(table.match.rulings[0].proposal, effects=(DeadHand("N"),))
    table.happens(match_events.RulingApproved, id="R1", by="chief", role=Role.CHIEF, proposal=bent)
    assert table.refused == "NOT_LEGAL"
    charge = msgspec.structs.replace(table.match.rulings[0].charge, offence="nothing")
    assert table.proposed(charge, bent, "R2").refused == "NOT_LEGAL"


def test_the_chief_may_give_another_penalty_than_was_proposed() -> None:
    table = Table().started().in_play().charged("N", "warning", name="R1")
    other = Table().started().in_play().charged("N", "foul").match.rulings[0].proposal
    table.does(match_events.RulingApproved, id="R1", by="chief", role=Role.CHIEF, proposal=other)
    assert table.phase is MatchPhase.FORFEIT
    assert table.match.rulings[0].changed_from is not None


def test_a_record_is_carried_in_and_counts() -> None:
    before = Table().started().in_play().ruled("NS", "warning")
    carried = current_record(before.match)
    table = Table()
    table.state = msgspec.structs.replace(table.state, record=carried)
    assert current_record(table.match) == carried


def test_rulings_of_one_match_are_told_apart() -> None:
    table = Table().started().in_play().charged("N", "foul")
    ruling = table.match.rulings[0]
    assert table.proposed(ruling.charge, ruling.proposal).refused == "TWICE"


CARDS = (
    ("who paid", INTL, "NS", None, "W", "wrong_tribute_in_play", None),
    ("who got the card", INTL, "NS", None, "N", "wrong_tribute_in_play", "NO_CARD_OF_HIS"),
    ("a first deal, without tribute", INTL, "", None, "N", "wrong_tribute", "NO_CARD_OF_HIS"),
    ("LAST's partner", INTL, "NWS", None, "W", "wrong_tribute", "NO_CARD_OF_HIS"),
    ("a low card to UP's own partner", INTL, "NWE", 10, "N", "wrong_return", "RETURN_IS_RIGHT"),
    ("a jack to UP's own partner", INTL, "NWE", 11, "N", "wrong_return", None),
    ("the level card", INTL, "NWE", 15, "N", "wrong_return_in_play", None),
    ("a card that nobody named", INTL, "NWE", 0, "N", "wrong_return_in_play", None),
    ("any card to an opponent", INTL, "NWS", 14, "N", "wrong_return", "RETURN_IS_RIGHT"),
    ("who got the return", INTL, "NWE", 11, "S", "wrong_return", "NO_CARD_OF_HIS"),
    ("an ace where ten is due", B, "NWS", 14, "N", "wrong_return", None),
    ("ten where ten is due", N, "NWS", 10, "N", "wrong_return", "RETURN_IS_RIGHT"),
    ("above ten where ten is advised", N, "NS", 14, "N", "wrong_return", None),
)
"""What it is, by which rules, the deal before, what was returned (0: not told), who is accused of
what, and the refusal."""


@each_row(("what", "profile", "before", "returned", "seat", "offence", "refused"), CARDS)
@pytest.mark.parametrize("later", [False, True], ids=["in the deal", "in a later one"])
def test_a_wrong_card_is_charged_to_who_gave_one_that_may_be_wrong(
    what: str,
    profile: str,
    before: str,
    returned: int | None,
    seat: Seat,
    offence: str,
    refused: str | None,
    later: bool,
) -> None:
    table = Table(profile).started().played(*filter(None, [before]))
    if before and returned is not None:
        table.returned(*(returned or None,) * 2)
    table.in_play()
    deal = table.match.deal
    if later:
        table.played("NS")
    charge = msgspec.structs.replace(charge_of(table.match, seat, offence), deal=deal)
    table.proposed(charge, legal_proposals(table.match, charge)[0])
    assert table.refused == refused


def test_without_tribute_after_anti_tribute_no_card_can_be_wrong() -> None:
    table = (
        Table().started().played("NS").counted().does(match_events.AntiTributeAnswered, stands=True)
    )
    charge = charge_of(table.match, "W", "wrong_tribute_in_play")
    table.proposed(charge, legal_proposals(table.match, charge)[0])
    assert table.refused == "NO_CARD_OF_HIS"


def test_a_charge_is_held_against_what_is_known_when_it_is_approved() -> None:
    def charged(table: Table, seat: Seat, offence: str, **said: object) -> Table:
        charge = msgspec.structs.replace(charge_of(table.match, seat, offence), **said)
        return table.proposed(charge, legal_proposals(table.match, charge)[0])

    before_release = Table().started().played("NS").dealt()
    charged(before_release, "N", "wrong_tribute_in_play")
    assert before_release.in_play().approved().refused == "NO_CARD_OF_HIS"

    before_anti = Table().started().played("NS").counted()
    charged(before_anti, "W", "wrong_tribute_in_play")
    before_anti.does(match_events.AntiTributeAnswered, stands=True)
    assert before_anti.approved().refused == "NO_CARD_OF_HIS"

    before_return = Table(N).started().played("NS").valued()
    charged(before_return, "N", "wrong_return")
    before_return.returned(7, 7).in_play()
    assert before_return.approved().refused == "RETURN_IS_RIGHT"

    before_first_deal = Table().started().in_play()
    charged(before_first_deal, "N", "wrong_tribute_in_play", deal=0)
    assert before_first_deal.refused == "NO_CARD_OF_HIS"


def test_a_return_that_may_not_be_seen_yet_is_not_told_by_what_the_desk_refuses() -> None:
    table = Table(N).started().played("NS").valued()
    table.does(match_events.ReturnLaid, seat="N", value=7)
    charge = charge_of(table.match, "N", "wrong_return")
    require_possible_charge(table.match, charge)
    table.does(match_events.ReturnLaid, seat="S", value=7)
    with pytest.raises(RefusedError):
        require_possible_charge(table.match, charge)


def test_a_deal_given_at_the_limit_of_deals_ends_the_match() -> None:
    table = Table(varied(INTL, ending={"method": "deals", "deals": 2})).started().played("NS")
    table.dealt().ruled("NS", "foul")
    assert (table.levels, table.phase) == ((5, 5), MatchPhase.OVER)
    assert isinstance(table.match.sheet[-2], DealRow)


def test_the_desk_works_while_the_table_is_suspended() -> None:
    table = Table().started().in_play().does(match_events.TableSuspended, reason="called")
    table.charged("N", "warning").overturned("R1")
    assert table.refused is None
    table.charged("N", "foul", name="R2")
    table.does(match_events.RulingApproved, id="R2", by="Chief", role=Role.REFEREE, verbal=True)
    table.does(match_events.TableSuspended, reason="again")
    table.does(match_events.VerbalRulingConfirmed, id="R2", by="Chief", role=Role.CHIEF)
    assert [ruling.state for ruling in table.match.rulings] == ["rejected", "decided"]

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest

from controller.match.refusals import Refusal, RefusedError
from controller.match.rulings import (
    AUTHORITY_BY_ACT,
    DecidedAct,
    MatchRuling,
    approve,
    confirm_verbal,
    is_in_force,
    is_unconfirmed,
    penalty_entry,
    propose,
    record_with_rulings,
    reject,
    require_role,
)
from controller.messages import Role
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.penalties.proposals import DealLost, PenaltyProposal, propose_penalties
from tests.guandan import load_guandan

INTERNATIONAL = load_guandan("international-000")
HUAINAN = load_guandan("huainan-2013-003")
NOBODY = [Role.OBSERVER, Role.TABLE, Role.TECHNICIAN]


def test_a_proposal_is_not_in_force() -> None:
    assert not is_in_force(foul())
    assert not is_in_force(warning())
    assert penalty_entry(foul()) is None


def test_a_referee_decides_on_a_warning() -> None:
    ruled = approve(warning(), "Lin", Role.REFEREE)
    assert is_in_force(ruled)
    assert (ruled.approved_by, ruled.verbal, ruled.changed_from) == ("Lin", False, None)


def test_a_foul_is_the_chiefs() -> None:
    assert refusal_of(approve, foul(), "Lin", Role.REFEREE) == Refusal("NEEDS_CHIEF")
    ruled = approve(foul(), "Zhou", Role.CHIEF)
    assert is_in_force(ruled)
    assert ruled.proposal.effects == (DealLost("EW"),)


@pytest.mark.parametrize("role", NOBODY)
def test_nobody_but_referees_decides_anything(role: Role) -> None:
    for ruling in (warning(), foul()):
        for said in (False, True):
            assert refusal_of(approve, ruling, "Wu", role, verbal=said) == Refusal("NOT_A_REFEREE")
            assert refusal_of(reject, ruling, "Wu", role, verbal=said) == Refusal("NOT_A_REFEREE")
    assert refusal_of(confirm_verbal, by_word(), "Wu", role) == Refusal("NOT_A_REFEREE")


def test_the_chiefs_word_is_in_force_and_confirmed_later() -> None:
    ruled = by_word()
    assert is_in_force(ruled)
    assert is_unconfirmed(ruled)
    assert ruled.approved_by == "Zhou"
    assert refusal_of(confirm_verbal, ruled, "Lin", Role.REFEREE) == Refusal("NEEDS_CHIEF")
    confirmed = confirm_verbal(ruled, "Zhou", Role.CHIEF)
    assert is_in_force(confirmed)
    assert not is_unconfirmed(confirmed)
    assert (confirmed.verbal, confirmed.confirmed_by) == (True, "Zhou")
    assert refusal_of(confirm_verbal, confirmed, "Zhou", Role.CHIEF) == Refusal("NOT_VERBAL", "1")


def test_what_needs_no_chief_is_never_verbal() -> None:
    assert not approve(warning(), "Lin", Role.REFEREE, verbal=True).verbal
    assert not approve(foul(), "Zhou", Role.CHIEF, verbal=True).verbal
    assert refusal_of(confirm_verbal, warning(), "Zhou", Role.CHIEF) == Refusal("NOT_VERBAL", "1")


def test_only_the_chief_gives_another_penalty_than_the_proposed() -> None:
    raised, milder = propose_penalties(INTERNATIONAL, BEFORE, charge("delay_tribute", step=2))
    ruling = propose("4", charge("delay_tribute", step=2), raised, "Lin")
    assert refusal_of(approve, ruling, "Lin", Role.REFEREE, proposal=milder) == Refusal(
        "NEEDS_CHIEF"
    )
    changed = approve(ruling, "Zhou", Role.CHIEF, proposal=milder)
    assert changed.proposal == milder
    assert changed.changed_from == raised
    first = propose_penalties(INTERNATIONAL, (), charge("delay_tribute", step=2))[0]
    assert refusal_of(approve, ruling, "Lin", Role.REFEREE, proposal=first) == Refusal(
        "NEEDS_CHIEF"
    )


def test_approving_what_was_proposed_changes_nothing() -> None:
    ruling = foul()
    same = approve(ruling, "Zhou", Role.CHIEF, proposal=ruling.proposal)
    assert same.changed_from is None


def test_a_rejected_ruling_stays_rejected() -> None:
    assert refusal_of(reject, foul(), "Lin", Role.REFEREE) == Refusal("NEEDS_CHIEF")
    ended = reject(foul(), "Zhou", Role.CHIEF)
    assert (ended.state, ended.rejected_by) == ("rejected", "Zhou")
    assert not is_in_force(ended)
    assert refusal_of(approve, ended, "Zhou", Role.CHIEF) == Refusal("NOT_OPEN", "1")
    assert refusal_of(reject, ended, "Zhou", Role.CHIEF) == Refusal("NOT_OPEN", "1")
    assert reject(foul(), "Zhou", Role.REFEREE, verbal=True).rejected_by == "Zhou"
    assert reject(warning(), "Lin", Role.REFEREE).rejected_by == "Lin"


def test_a_decided_ruling_is_overturned_by_the_chief_only() -> None:
    ruled = approve(warning(), "Lin", Role.REFEREE)
    assert refusal_of(approve, ruled, "Lin", Role.REFEREE) == Refusal("NOT_OPEN", "1")
    assert refusal_of(reject, ruled, "Lin", Role.REFEREE) == Refusal("NEEDS_CHIEF")
    overturned = reject(ruled, "Zhou", Role.CHIEF)
    assert not is_in_force(overturned)
    assert overturned.approved_by == "Lin"


def test_what_holds_is_in_the_record_of_the_pair() -> None:
    ruled = approve(warning(), "Lin", Role.REFEREE)
    left = penalty_entry(ruled)
    assert left is not None
    assert (left.penalty, left.offence, left.article) == ("warning", "no_report", "A12.1–2")
    assert (left.pair, left.person, left.seat, left.match) == ("7", "Dong", "E", "1")
    assert record_with_rulings(BEFORE, [ruled, foul()]) == (*BEFORE, left)


def test_an_overturned_ruling_leaves_nothing_in_the_record() -> None:
    ruled = approve(warning(), "Lin", Role.REFEREE)
    overturned = reject(ruled, "Zhou", Role.CHIEF)
    assert record_with_rulings(BEFORE, [overturned]) == BEFORE


def test_an_offence_without_a_penalty_leaves_nothing_in_the_record() -> None:
    answer = propose_penalties(INTERNATIONAL, (), charge("wrong_play_leader"))[0]
    ruled = approve(propose("9", charge("wrong_play_leader"), answer, "Lin"), "Lin", Role.REFEREE)
    assert record_with_rulings((), [ruled]) == ()


def test_a_ruling_leads_to_the_next_step() -> None:
    record: PenaltyRecord = ()
    given = []
    for number in range(3):
        accused = charge("declare_out_of_turn")
        first = propose_penalties(HUAINAN, record, accused)[0]
        ruled = approve(propose(str(number), accused, first, "Lin"), "Zhou", Role.CHIEF)
        record = record_with_rulings(record, [ruled])
        given.append(first.penalty)
    assert given == ["warning", "foul", "warning"]


def test_a_ruling_survives_being_written_down() -> None:
    for ruling in (warning(), by_word()):
        assert msgspec.json.decode(msgspec.json.encode(ruling), type=MatchRuling) == ruling


# -- who may decide what ------------------------------------------------------


def test_every_act_is_somebodys() -> None:
    assert set(AUTHORITY_BY_ACT) == set(get_args(DecidedAct))


def test_a_referee_alone_counts_corrects_and_stops_a_deal() -> None:
    alone = {act for act, needs in AUTHORITY_BY_ACT.items() if needs == "referee"}
    assert alone == {"recount", "correction", "deal_stopped"}


@pytest.mark.parametrize(
    ("need", "role", "verbal", "code"),
    [
        ("referee", Role.REFEREE, False, None),
        ("referee", Role.CHIEF, False, None),
        ("chief", Role.CHIEF, False, None),
        ("chief", Role.REFEREE, True, None),
        ("chief", Role.REFEREE, False, "NEEDS_CHIEF"),
        ("referee", Role.TECHNICIAN, True, "NOT_A_REFEREE"),
    ],
)
def test_a_role_may_or_is_told_why_not(need: Any, role: Role, verbal: bool, code: Any) -> None:
    if code is None:
        require_role(need, role, verbal=verbal)
    else:
        assert refusal_of(require_role, need, role, verbal=verbal) == Refusal(code)


def charge(offence: str, **said: Any) -> Charge:
    return Charge(
        offence=offence,
        seat="E",
        person="Dong",
        pair="7",
        side="EW",
        event="cup",
        round=1,
        match="1",
        deal=1,
        at_ms=60_000,
        pointed_out_by="N",
        **said,
    )


def ruling_on(offence: str, **said: Any) -> MatchRuling:
    accused = charge(offence, **said)
    return propose("1", accused, propose_penalties(INTERNATIONAL, (), accused)[0], "Lin")


def warning() -> MatchRuling:
    return ruling_on("no_report")


def foul() -> MatchRuling:
    return ruling_on("hidden_cards", harmed=True)


def by_word() -> MatchRuling:
    return approve(foul(), "Zhou", Role.REFEREE, verbal=True)


def refusal_of(act: Callable[..., object], *args: Any, **more: Any) -> Refusal:
    with pytest.raises(RefusedError) as caught:
        act(*args, **more)
    return caught.value.refusal


def violation_before() -> PenaltyRecord:
    accused = charge("delay_tribute", step=2)
    answer: PenaltyProposal = propose_penalties(INTERNATIONAL, (), accused)[0]
    return record_with_rulings(
        (), [approve(propose("0", accused, answer, "Lin"), "Lin", Role.REFEREE)]
    )


BEFORE = violation_before()

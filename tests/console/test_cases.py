"""The rulings of a match out of its public entries, as the match itself has them."""

import random
from typing import Any

import msgspec
import pytest

from controller.console.view.penalty_counters import count_penalties
from controller.console.view.ruling_cases import build_ruling_views, read_rulings
from controller.machine.public.public_match import public_match
from controller.machine.public.public_results import rulings_in_words
from controller.machine.state.table_match import TableMatch
from controller.match import match_events
from controller.match.match_events import MatchEvent, encode_match_event
from controller.match.match_state import GuandanMatch
from controller.match.reducer import new_match, step
from controller.match.ruling_desk import legal_proposals
from controller.messages import PublicMatch, Role
from controller.words import Words
from tests.console.match_entries import brought, entries, entry
from tests.guandan import load_guandan
from tests.match.people import People, charge_of, meeting
from tests.match.table import GUANDAN, INTL, N, Table


def shown(table: Table) -> PublicMatch:
    play = TableMatch(match=table.state)
    return public_match(
        play, profile=table.profile.name, now_ms=table.at_ms, deal=1, leader=None, turned_up=None
    )


@pytest.mark.parametrize("profile", GUANDAN)
@pytest.mark.parametrize("seed", range(6))
def test_entries_tell_the_rulings_as_the_match_has_them(profile: str, seed: int) -> None:
    people = People(random.Random(seed), wild=0.6)
    rules = load_guandan(profile)
    match: Any = new_match(rules, meeting())
    log: list[MatchEvent] = []
    for _ in range(250):
        event = people.next_event(match)
        match, effects = step(match, event)
        if not any(type(effect).__name__ == "EventRefused" for effect in effects):
            log.append(event)
    found = read_rulings(
        [entry("meeting", {"record": []}), *(entry("match", encode_match_event(e)) for e in log)]
    )
    assert isinstance(match, GuandanMatch)
    said = [
        (r.id, r.state, r.proposal, r.approved_by, r.rejected_by, r.verbal, r.confirmed_by)
        for r in match.rulings
    ]
    assert said == [
        (c.id, c.state, c.proposal, c.approved_by, c.rejected_by, c.verbal, c.confirmed_by)
        for c in found.cases
    ]
    assert [r.changed_from for r in match.rulings] == [c.changed_from for c in found.cases]
    views = build_ruling_views(rules, found, rulings_in_words(match.rulings), match.deal)
    assert [(v.id, v.penalty, v.state) for v in views] == [
        (r.id, r.proposal.penalty, r.state) for r in match.rulings
    ]


def test_a_ruling_says_what_it_does_and_who_pointed_it_out() -> None:
    table = Table().started().in_play().charged("W", "foul")
    (view,) = build_ruling_views(
        table.rules, read_rulings(entries(table)), shown(table).rulings, table.match.deal
    )
    assert view.answer is not None
    assert "East-West loses this deal" in view.answer.effects[0].en
    assert view.pointed_out_by in ("N", "S")
    assert view.charge is not None
    assert view.charge["offence"] == "other"


def test_a_ruling_on_an_earlier_deal_names_that_deal() -> None:
    table = Table().started().in_play().charged("W", "foul").played("ENS").in_play()
    (view,) = build_ruling_views(
        table.rules, read_rulings(entries(table)), shown(table).rulings, table.match.deal
    )
    assert view.answer is not None
    assert view.answer.effects[0].en.startswith("East-West loses deal 1, written as a double-down")
    assert view.answer.effects[0].zh.startswith("东西第1副判负")


def test_a_turn_that_is_lost_without_a_penalty_is_not_called_no_penalty() -> None:
    table = Table().started().in_play().does(match_events.LeadMade)
    charge = charge_of(table.state, "E", "play_out_of_turn")
    (answer, *_) = legal_proposals(table.match, charge)
    assert (answer.penalty, answer.loses_turn) == ("none", True)
    table.proposed(charge, answer)
    (state,) = shown(table).rulings
    (view,) = build_ruling_views(
        table.rules, read_rulings(entries(table)), [state], table.match.deal
    )
    assert view.penalty_zh == state.penalty_zh == "停止出牌权一次"
    assert view.answer is not None
    assert view.answer.zh == "停止出牌权一次"


def test_a_ruling_that_was_not_heard_is_shown_as_the_state_has_it() -> None:
    table = Table().started().in_play().charged("W", "foul")
    (view,) = build_ruling_views(
        table.rules, read_rulings(()), shown(table).rulings, table.match.deal
    )
    assert (view.id, view.penalty, view.state, view.answer) == ("R1", "foul", "proposed", None)


def test_the_state_knows_first_that_a_ruling_is_decided() -> None:
    table = Table().started().in_play().charged("W", "warning")
    before = read_rulings(entries(table))
    table.approved()
    (view,) = build_ruling_views(table.rules, before, shown(table).rulings, table.match.deal)
    assert (view.state, view.approved_by) == ("decided", "chief")


def test_a_counter_counts_what_holds_and_what_the_pair_brought() -> None:
    table = Table().started().in_play().ruled("EW", "warning").ruled("EW", "warning")
    table.overturned("R2")
    found = read_rulings(entries(table, (brought(table), brought(table, event="another event"))))
    pairs = {pair.side: pair for pair in count_penalties(shown(table), found)}
    warnings = pairs["EW"].given["warning"]
    assert (warnings.deal, warnings.match, warnings.round, warnings.event) == (1, 1, 2, 2)
    assert pairs["NS"].given["warning"].event == 0
    assert pairs["EW"].brought is not None
    assert len(pairs["EW"].brought) == 2


def test_a_count_of_another_round_is_not_of_this_one() -> None:
    table = Table().started().in_play()
    found = read_rulings(entries(table, (brought(table, round=table.state.meeting.round + 1),)))
    pairs = {pair.side: pair for pair in count_penalties(shown(table), found)}
    assert (pairs["EW"].given["warning"].round, pairs["EW"].given["warning"].event) == (0, 1)


def test_what_was_not_heard_is_not_counted_as_nothing() -> None:
    table = Table().started().in_play().ruled("EW", "warning")
    pairs = {
        pair.side: pair for pair in count_penalties(shown(table), read_rulings(entries(table)[1:]))
    }
    assert pairs["EW"].given["warning"].match == 1
    assert pairs["EW"].given["warning"].round is None
    assert pairs["EW"].brought is None


def test_claims_are_the_pairs() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="W")
    right = dict.fromkeys("NWSE", 27)
    table.does(match_events.HandsRecounted, counts=right).does(match_events.CountClaimed, seat="E")
    pairs = {
        pair.side: pair.claims
        for pair in count_penalties(shown(table), read_rulings(entries(table)))
    }
    assert pairs == {"NS": 0, "EW": 2}


def test_a_new_match_begins_without_the_rulings_of_the_last() -> None:
    table = Table().started().in_play().ruled("EW", "warning")
    assert read_rulings([*entries(table), *entries(Table(N).started())]).cases == ()


def test_an_entry_of_a_newer_table_is_passed_over() -> None:
    table = Table().started().in_play()
    strange = entry("match", {"event": "RulingProposed", "id": "R9", "at_ms": 1, "charge": {}})
    assert read_rulings([*entries(table), strange]).cases == ()


def test_a_word_of_the_chief_waits_for_him() -> None:
    table = Table(INTL).started().in_play().charged("W", "foul")
    table.does(match_events.RulingApproved, id="R1", by="Chen", role=Role.REFEREE, verbal=True)
    (case,) = read_rulings(entries(table)).cases
    assert (case.verbal, case.confirmed_by) == (True, None)
    table.does(match_events.VerbalRulingConfirmed, id="R1", by="Chen", role=Role.CHIEF)
    assert read_rulings(entries(table)).cases[0].confirmed_by == "Chen"


def test_a_word_of_the_chief_is_shown_with_his_name_and_with_who_entered_it() -> None:
    table = Table(INTL).started().in_play().charged("W", "foul")
    word = {"by": "陈明", "role": Role.REFEREE, "verbal": True, "entered_by": "李娜 (referee)"}
    table.does(match_events.RulingApproved, id="R1", **word)
    for heard in (
        read_rulings(entries(table)),
        read_rulings(()),
    ):  # by entries, or by the state alone
        (view,) = build_ruling_views(table.rules, heard, shown(table).rulings, table.match.deal)
        assert view.decided == Words(
            "陈明 (chief, by word), entered by 李娜 (referee)",
            "裁判长陈明（口头），李娜（裁判员）录入",
        )
        assert (view.entered_by, view.rejected) == ("李娜 (referee)", None)
    table.charged("E", "foul", name="R2").does(match_events.RulingRejected, id="R2", **word)
    view = build_ruling_views(
        table.rules, read_rulings(entries(table)), shown(table).rulings, table.match.deal
    )[-1]
    assert (view.rejection_entered_by, view.decided) == ("李娜 (referee)", None)
    assert view.rejected is not None
    assert view.rejected.zh == "裁判长陈明（口头），李娜（裁判员）录入"


@pytest.mark.parametrize(
    ("by", "when", "said"),
    [
        ("N", "at_once", []),
        ("referee", "at_once", ["系裁判员自行指出，并无运动员指出"]),
        ("N", "later_deal", ["下圈或下副才指出"]),
        ("referee", "later_trick", ["无运动员指出，或下圈、下副才指出"]),
        ("outsider", "at_once", ["无运动员指出", "由领队、教练、其他选手或观众率先指出"]),
    ],
)
def test_why_a_claim_may_have_lapsed_is_said_as_it_was(by: Any, when: Any, said: list[str]) -> None:
    table = Table(INTL).started().in_play()
    charge = charge_of(table.state, "W", "no_report")
    charge = msgspec.structs.replace(charge, pointed_out_by=by, pointed_out_when=when)
    table.proposed(charge, legal_proposals(table.match, charge)[0])
    (view,) = build_ruling_views(
        table.rules, read_rulings(entries(table)), shown(table).rulings, table.match.deal
    )
    assert [each.zh for each in view.lapses] == said

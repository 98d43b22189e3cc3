"""The match in the public state: whole in every state, and no card before its time."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from controller.machine.public.public_match import public_match
from controller.machine.public.public_state import public_calls
from controller.machine.state.table_match import TableMatch
from controller.match import match_events
from controller.match.match_effects import EventRefused
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.match.phase import BEFORE_RELEASE, MatchPhase
from controller.match.reducer import new_match, step
from controller.messages import PublicAreaStop, RefereeCall, Role
from controller.messages import PublicMatch as Public
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.tribute import finish_owing_tribute
from controller.rules.tribute_returns import return_visibility
from controller.seats import SEATS, side_of
from controller.words import CALL_WORDS as NEEDS
from tests.match.people import People, meeting
from tests.match.table import BIG_TWO, INTL, B, N, Table, from_level, timed

MOST_BYTES = 4_000
"""Of the match in a state; the whole state is to stay below 6 kB."""


def shown(match: AnyMatch | None, **about: Any) -> Public:
    now_ms = 0 if match is None else match.now_ms
    given: dict[str, Any] = {"profile": "p", "now_ms": now_ms, "deal": None}
    given |= {"leader": None, "turned_up": None}
    return public_match(TableMatch(match=match, **about.pop("play", {})), **given | about)


def states(name: str, seed: int) -> Iterator[AnyMatch]:
    """Every state of a match at random."""
    rng = random.Random(f"{name} {seed}")
    people = People(rng, wild=rng.choice((0.05, 0.2)), pace=rng.choice((1, 1, 8)))
    match = new_match(load_profile(name), meeting(rng.choice(("swiss", "knockout"))))
    yield match
    while match.phase is not MatchPhase.SIGNED:
        match, _ = step(match, people.next_event(match))
        yield match


def accepts(match: AnyMatch, kind: type[match_events.MatchEventBase], **said: Any) -> bool:
    event: Any = kind(at_ms=match.now_ms, **said)
    return not any(isinstance(effect, EventRefused) for effect in step(match, event)[1])


def _check_cards(match: AnyMatch, public: Public) -> None:
    """Nothing is named that the table has not seen."""
    if match.phase in BEFORE_RELEASE and not match.by_hand:
        assert public.turned_up is None
        assert public.leader is None
        assert public.tribute is None
    tribute = public.tribute
    if tribute is None or not isinstance(match, GuandanMatch):
        return
    if set(tribute.laid) < set(tribute.payers):
        assert not tribute.required
        assert not tribute.payments
        assert not tribute.returns
    owed = finish_owing_tribute(match.profile, match.follows)
    assert owed is not None
    how = return_visibility(match.profile, owed)
    seen = [one.card for one in tribute.returns if one.card is not None]
    if how == "secret" or (how == "together" and len(tribute.given) < len(tribute.returns)):
        assert not seen
    assert all(one.giver in tribute.given for one in tribute.returns if one.card is not None)


_PRESSES: dict[MatchPhase, Callable[[AnyMatch, Any], bool]] = {
    MatchPhase.SETUP: lambda match, seat: accepts(match, match_events.SeatTaken, seat=seat),
    MatchPhase.SHUFFLE: lambda match, seat: accepts(match, match_events.SetShuffled, seat=seat),
    MatchPhase.CUT: lambda match, seat: accepts(match, match_events.SetCut, seat=seat, n=20),
    MatchPhase.HELD: lambda match, seat: accepts(match, match_events.ReleaseOrdered),
    MatchPhase.COUNT_CHECK: lambda match, seat: accepts(match, match_events.HandCounted, seat=seat),
    MatchPhase.TRIBUTE: lambda match, seat: accepts(match, match_events.TributeLaid, seat=seat),
    MatchPhase.RETURN: lambda match, seat: accepts(
        match, match_events.ReturnLaid, seat=seat, value=5
    ),
    MatchPhase.CHOICES: lambda match, seat: accepts(
        match, match_events.ChoiceAnswered, seat=seat, yes=True
    ),
    MatchPhase.RESULT: lambda match, seat: accepts(
        match, match_events.ResultConfirmed, by=side_of(seat)
    ),
    MatchPhase.FORFEIT: lambda match, seat: accepts(match, match_events.LeaderNamed, seat=seat),
    MatchPhase.OVER: lambda match, seat: any(
        accepts(match, match_events.SheetSigned, signer=signer, person="he")
        for signer in (seat, side_of(seat))
    ),
}
"""Whether a seat may do now what the phase waits for."""


@pytest.mark.parametrize("name", profile_names())
def test_every_state_of_a_match_goes_over_the_wire_and_names_those_who_may_act(
    name: str, scale: Callable[[int], int]
) -> None:
    asked = set()
    for seed in range(scale(500)):
        for match in states(name, seed):
            public = shown(match)
            raw = msgspec.json.encode(public)
            assert msgspec.json.decode(raw, type=Public) == public
            assert public.next_en
            assert public.next_zh
            assert public.phase_zh
            assert len(raw) < MOST_BYTES + 600 * len(public.rulings)
            _check_cards(match, public)
            if match.phase in _PRESSES:
                asked.add(match.phase)
                may = [seat for seat in SEATS if _PRESSES[match.phase](match, seat)]
                assert public.waiting_for == may, (match.phase, match.suspended)
    assert asked >= {
        MatchPhase.SETUP,
        MatchPhase.CUT,
        MatchPhase.HELD,
        MatchPhase.RESULT,
        MatchPhase.OVER,
    }


def test_a_practice_table_shows_what_its_machine_has_dealt() -> None:
    public = shown(None, profile=INTL, deal=3, leader="E", turned_up="♠7", now_ms=5)
    assert (public.profile, public.phase, public.deal) == (INTL, "idle", 3)
    assert (public.leader, public.turned_up, public.match) == ("E", "♠7", None)


def test_a_match_is_shown_with_its_event_and_its_people() -> None:
    public = shown(Table().seated("N").state)
    assert (public.event, public.round, public.table_no) == ("Cup", 1, "7")
    assert (public.stage, public.match, public.game) == ("swiss", "M1", "guandan")
    assert public.pairs["EW"] is not None
    assert public.pairs["EW"].players == {"E": "Eve", "W": "Wu"}
    assert public.seated == ["N"]
    assert public.next_zh == "选手就位，尚缺西家、南家、东家"
    assert shown(Table().seated().state).next_zh == "请等待裁判长宣布开赛"


def test_the_cutter_is_asked_by_name_with_the_legal_numbers() -> None:
    public = shown(Table().started().state)
    assert (public.cutters, public.cut_range) == (["S"], (6, 102))
    assert (public.next_en, public.next_zh) == ("South cuts (6…102)", "请南家切牌（6…102）")
    later = shown(Table().started().cut().state)
    assert (later.cutters, later.cut_range, later.cutter) == ([], None, "S")


def test_the_turned_up_card_comes_with_the_release() -> None:
    table = Table().started().dealt(turned_to="W")
    assert table.state.turned_up == "♠7"
    held = shown(table.state)
    assert (held.phase, held.turned_up, held.leader) == ("held", None, None)
    out = shown(table.released().state, play={"attempt": 9})
    assert (out.turned_up, out.leader, out.attempt) == ("♠7", "W", 9)
    assert out.next_en == "count 27 cards, waiting for North, West, South, East"


def test_hands_drawn_by_hand_show_the_duties_of_the_rulebook() -> None:
    table = Table(B).started().does(match_events.HandDealOrdered, reason="broken")
    public = shown(table.state)
    assert public.by_hand
    assert public.hand_duties is not None
    assert public.hand_duties.shufflers == ["E"]
    assert public.hand_duties.turnup
    assert public.next_zh.startswith("请东家洗牌（")
    table.cut()
    assert shown(table.state).next_zh == "请南家翻牌"
    table.does(match_events.CardTurnedUp, card="♠7")
    drawn = shown(table.state)
    assert drawn.turned_up == "♠7"
    assert drawn.hand_duties is not None
    assert (
        drawn.next_en == f"the hands are drawn, {_name(drawn.hand_duties.first_drawer)} draws first"
    )


def _name(seat: Any) -> str:
    return {"N": "North", "W": "West", "S": "South", "E": "East"}[seat]


def test_a_tribute_is_named_when_all_have_laid_it() -> None:
    table = (
        Table()
        .started()
        .played("NS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    waits = shown(table.state)
    assert waits.tribute is not None
    assert (waits.tribute.payers, waits.tribute.required) == (["W", "E"], {})
    table.does(match_events.TributeLaid, seat="W")
    assert shown(table.state).next_zh == "请东家亮出贡牌后按确认"
    table.does(match_events.TributeLaid, seat="E").valued(16, 15)
    told = shown(table.state).tribute
    assert told is not None
    assert told.required == {"W": "SJ", "E": "5"}
    assert {(one.giver, one.to, one.card) for one in told.payments} == {
        ("W", "N", "SJ"),
        ("E", "S", "5"),
    }


def test_two_returns_are_shown_together() -> None:
    table = Table().started().played("NS").valued(16, 14)
    table.does(match_events.ReturnLaid, seat="N", value=5)
    first = shown(table.state)
    assert first.tribute is not None
    assert [one.card for one in first.tribute.returns] == [None, None]
    assert first.waiting_for == ["S"]
    table.does(match_events.ReturnLaid, seat="S", value=9)
    both = shown(table.state).tribute
    assert both is not None
    assert {one.giver: one.card for one in both.returns} == {"N": "5", "S": "9"}


def test_a_secret_return_is_never_named() -> None:
    table = Table(B).started().played("NWS").valued(16)
    assert shown(table.state).next_zh.endswith("，暗还")
    table.returned(7)
    tribute = shown(table.state).tribute
    assert tribute is not None
    assert tribute.returns_shown == "secret"
    assert [one.card for one in tribute.returns] == [None]
    assert table.match.exchange is not None
    assert table.match.exchange.returned


def test_up_may_choose_between_equal_tributes() -> None:
    public = shown(Table(N).started().played("NS").valued(14, 14).state)
    assert public.tribute is not None
    assert public.tribute.choice_open
    assert public.tribute.chooser == "N"
    assert public.tribute.equal
    assert public.next_zh == "贡牌同大，北家可选收哪家，然后还牌"


def test_anti_tribute_is_told_without_who_holds_the_jokers() -> None:
    table = Table().started().played("NS").counted()
    asked = shown(table.state)
    assert asked.tribute is not None
    assert (asked.tribute.anti, asked.next_zh) == (None, "核对抗贡")
    stands = shown(table.does(match_events.AntiTributeAnswered, stands=True).state)
    assert stands.tribute is not None
    assert (stands.tribute.anti, stands.next_zh) == (True, "抗贡成立，北家先出")


def test_who_says_he_is_out_is_confirmed_by_an_opponent() -> None:
    table = (
        Table()
        .started()
        .in_play()
        .does(match_events.LeadMade)
        .does(match_events.OutClaimed, seat="N")
    )
    public = shown(table.state)
    assert (public.outs, public.order, public.waiting_for) == (["N"], [], ["W", "E"])
    assert public.next_zh == "北家第1名？请西家或东家确认"
    assert shown(table.out("N").state).order == ["N"]


def test_a_result_waits_for_the_side_that_has_not_confirmed() -> None:
    table = Table().started().out("NS").does(match_events.ResultConfirmed, by="NS")
    public = shown(table.state)
    assert (public.confirmed, public.waiting_for) == (["NS"], ["W", "E"])
    assert public.next_en == "North-South +3: East-West to confirm"


def test_time_that_ended_a_deal_waits_for_the_referee() -> None:
    table = Table(timed(at_time="stop_now")).started().in_play().tick(minutes=70).out("NS")
    public = shown(table.state)
    assert (public.phase, public.waiting_for) == ("result", [])
    assert public.next_zh == "终局前时间到，请裁判员终止本副"


def test_levels_are_written_as_people_do() -> None:
    public = shown(Table(from_level("10")).started().played("NS").state)
    assert (public.levels, public.level, public.owner) == ({"NS": "K", "EW": "10"}, "K", "NS")
    before = shown(Table(from_level("10")).state)
    assert (before.level, before.deal) == ("10", 0)


def test_a_clock_is_whole_seconds_and_a_deadline() -> None:
    table = Table(timed()).started().tick(500)
    clock = shown(table.state).clock
    assert clock is not None
    start_ms = shown(table.state).start_ms
    assert start_ms is not None
    assert (clock.left_s, clock.running) == (3600, True)
    assert clock.deadline_ms == start_ms + 3_600_000
    table.does(match_events.TimeAdded, seconds=60, role=Role.REFEREE)
    added = shown(table.state)
    assert added.added_time_s == 60
    assert added.clock is not None
    assert added.clock.deadline_ms == start_ms + 3_660_000
    table.does(match_events.AreaPaused).tick(5_000)
    paused = shown(table.state)
    assert paused.clock is not None
    assert (paused.clock.running, paused.clock.deadline_ms) == (False, None)
    assert paused.clock.left_s == 3660
    assert paused.next_zh.startswith("全区停表；")
    assert paused.area_stop is not None
    assert (paused.area_stop.reason, paused.area_stop.by) == (None, None)
    assert shown(Table().started().state).clock is None


def test_a_stop_of_the_area_says_since_when_why_and_by_whom_until_it_is_over() -> None:
    table = Table(timed()).started().tick(500)
    assert shown(table.state).area_stop is None
    table.does(match_events.AreaPaused, reason="fire alarm", by="Zhang Hui (chief)")
    since_ms = table.at_ms
    table.tick(5_000).does(match_events.AreaPaused, reason="lunch", by="chief")  # it stood already
    public = shown(table.state)
    assert public.area_stop is not None
    assert public.area_stop == PublicAreaStop(
        since_ms=since_ms, reason="fire alarm", by="Zhang Hui (chief)"
    )
    assert public.next_en.startswith("the area's clocks are stopped (fire alarm); ")
    assert public.next_zh.startswith("全区停表（fire alarm）；")
    assert shown(table.does(match_events.AreaResumed).state).area_stop is None


@pytest.mark.parametrize(
    ("reason", "en", "zh"),
    [
        ("at_table", "the referee is at the table", "裁判到台处理"),
        (
            "chief, referee",
            "stopped by the chief referee, stopped by the referee",
            "裁判长暂停、裁判员暂停",
        ),
        ("a glass fell over", "a glass fell over", "a glass fell over"),
    ],
)
def test_why_a_table_is_suspended_is_said_in_each_language(reason: str, en: str, zh: str) -> None:
    public = shown(Table().started().does(match_events.TableSuspended, reason=reason).state)
    assert public.next_en == f"suspended ({en}): wait for the referee"
    assert public.next_zh == f"暂停待裁（{zh}）"


def test_a_seat_that_is_waited_for_has_its_clock() -> None:
    table = (
        Table()
        .started()
        .played("NWS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    (clock,) = shown(table.state).clocks
    assert (clock.duty, clock.seat, clock.side, clock.running) == ("tribute", "E", "EW", True)
    assert clock.left_s == 15
    (later,) = shown(table.state, now_ms=table.at_ms + 14_001).clocks
    assert later.left_s == 1
    (stopped,) = shown(table.does(match_events.TableSuspended, reason="called").state).clocks
    assert not stopped.running


def test_a_ruling_is_told_in_words_and_with_who_decides() -> None:
    table = Table().started().charged("E", "foul")
    (proposed,) = shown(table.state).rulings
    assert (proposed.state, proposed.needs, proposed.seat) == ("proposed", "chief", "E")
    assert (proposed.penalty, proposed.penalty_zh, proposed.by) == ("foul", "记犯规", "referee")
    (decided,) = shown(table.approved().state).rulings
    assert (decided.state, decided.approved_by) == ("decided", "chief")


def test_old_rulings_leave_the_state_and_open_ones_stay() -> None:
    table = Table().started()
    table.charged("N", "warning", name="R0")
    for number in range(12):
        table.charged("E", "warning", name=f"R{number + 1}").approved(f"R{number + 1}")
    ids = [ruling.id for ruling in shown(table.state).rulings]
    assert ids == ["R0", *(f"R{number}" for number in range(5, 13))]


def test_a_claimed_count_stops_all_but_the_referee() -> None:
    table = Table().started().counted().does(match_events.CountClaimed, seat="W")
    public = shown(table.state)
    assert (public.suspended, public.claimed, public.waiting_for) == ("count", "W", [])
    assert public.next_zh == "西家申告张数不符，请裁判员清点四家手牌"


def test_the_end_has_its_verdict_and_its_signers() -> None:
    table = Table(from_level("A")).started().played("NS", "NS")
    over = shown(table.state)
    assert over.verdict is not None
    assert (over.verdict.winner, over.verdict.how, over.verdict.how_zh) == ("NS", "past_a", "过A")
    assert over.levels == {"NS": "A+", "EW": "A"}
    assert over.signers == ["NS", "EW", "referee"]
    assert over.score is not None
    assert over.score.level_points is not None
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    signed = shown(table.state)
    assert [one.person for one in signed.signed] == ["Nan"]
    assert signed.waiting_for == ["W", "E"]
    assert signed.next_zh == "记分表待签：东西、裁判员"


def test_big_two_shows_choices_when_all_have_made_them() -> None:
    table = Table(BIG_TWO).started().released()
    assert isinstance(table.state, BigTwoMatch)
    table.does(match_events.ChoiceAnswered, seat="N", yes=True)
    asked = shown(table.state)
    assert asked.choices is not None
    assert (asked.choices.asked, asked.choices.opened) == ("open_hand", [])
    assert asked.waiting_for == ["W", "S", "E"]
    assert [clock.duty for clock in asked.clocks] == ["open_hand"]
    for seat in "WSE":
        table.does(match_events.ChoiceAnswered, seat=seat, yes=False)
    doubling = shown(table.state)
    assert doubling.choices is not None
    assert (doubling.choices.asked, doubling.choices.opened) == ("doubling", ["N"])
    assert doubling.totals == dict.fromkeys(SEATS, 0)
    assert doubling.levels == {"NS": None, "EW": None}


def test_calls_are_in_words_and_the_longest_waiting_comes_first() -> None:
    pressed = RefereeCall(seat="N", reason="button", since="2026-01-01T00:00:02Z")
    need = RefereeCall(seat=None, reason="extra_deal", since="2026-01-01T00:00:01Z")
    first, second = public_calls((pressed,), (need,))
    assert (first.reason, first.words_zh) == ("extra_deal", NEEDS["extra_deal"].zh)
    assert (second.seat, second.words_zh) == ("N", "召请裁判")


def test_a_whole_state_stays_small() -> None:
    table = Table(timed()).started().played("NS", "NWS").returned().charged("E", "violation")
    assert len(msgspec.json.encode(shown(table.state))) < MOST_BYTES

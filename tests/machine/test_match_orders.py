"""Each command of a match, as people send it: what the match makes of it, and what it refuses."""

import re
from typing import Any

import msgspec
import pytest

from controller.commands.registry import COMMANDS, BadArgs, parse_args
from controller.machine.commands.command_events import EVENT_MAKERS, events_of_command, meeting_of
from controller.machine.commands.command_request import CommandSigner
from controller.machine.commands.ruling_commands import legal_rulings
from controller.machine.public.public_results import unconfirmed_corrections
from controller.match import match_events
from controller.match.match_effects import EventRefused
from controller.match.phase import MatchPhase
from controller.match.reducer import step
from controller.match.refusals import RefusedError
from controller.match.rulings import is_unconfirmed
from controller.match.sheet_rows import CorrectionRow, RedealtRow, RulingRow, StoppedRow
from controller.messages import Role, Seat
from controller.rules.penalties.penalty_record import PenaltyEntry
from controller.seats import SEATS
from tests.match.people import meeting
from tests.match.table import BIG_TWO, INTL, B, H, N, Table, knockout, timed, varied

PLAYERS = CommandSigner("table-7", Role.TABLE)
LIN = CommandSigner("Lin", Role.REFEREE)
CHEN = CommandSigner("Chen", Role.CHIEF)
WORD: dict[str, Any] = {"verbal": True, "by": "Chen"}
RIGHT = dict.fromkeys(SEATS, 27)


def given(table: Table, cmd: str, who: CommandSigner = LIN, **said: Any) -> Table:
    """A command that somebody gives; why it is refused, in `table.refused`."""
    table.at_ms += 100
    try:
        meant = events_of_command(cmd, parse_args(cmd, said), who, table.state, table.at_ms)
    except RefusedError as error:
        table.said = (EventRefused(error.refusal),)
        return table
    for event in meant:
        table.state, table.said = step(table.state, event)
        table.happened.append(event)
        if table.refused:
            break
    return table


def done(table: Table, cmd: str, who: CommandSigner = LIN, **said: Any) -> Table:
    """A command that nobody refuses."""
    given(table, cmd, who, **said)
    assert table.refused is None, f"{cmd}: {table.refused} in {table.phase}"
    return table


def refused(table: Table, cmd: str, who: CommandSigner = LIN, **said: Any) -> str | None:
    """Why a command is refused."""
    return given(table, cmd, who, **said).refused


def owed(table: Table, values: tuple[int, ...] = (14,)) -> Table:
    """Tribute of the deal after a single win is laid, and worth so much."""
    return table.played("NWS").valued(*values)


# The table of commands.


def test_every_command_that_only_a_match_takes_has_a_meaning() -> None:
    machines = {cmd for cmd, order in COMMANDS.items() if order.bound_to == "machine"}
    bound = {cmd for cmd, order in COMMANDS.items() if order.bound_to == "match"}
    assert set(EVENT_MAKERS) <= set(COMMANDS) - machines
    assert bound - set(EVENT_MAKERS) == {"open_hand"}


def test_a_command_of_the_machine_is_none_of_the_match() -> None:
    table = Table()
    with pytest.raises(LookupError):
        events_of_command("release", parse_args("release", {}), LIN, table.state, 0)


# Seats and start.


def test_players_take_their_seats_and_the_chief_opens_the_match() -> None:
    table = Table()
    for seat in SEATS:
        done(table, "seat", PLAYERS, seat=seat, person=table.state.meeting.player_name(seat))
    assert refused(table, "seat", PLAYERS, seat="N") == "SEAT_TAKEN"
    done(table, "start_match", CHEN)
    assert table.phase is MatchPhase.CUT
    assert refused(table, "start_match", CHEN) == "WRONG_PHASE"


def test_a_green_button_takes_the_seat_too() -> None:
    table = Table()
    for seat in SEATS:
        done(table, "confirm", PLAYERS, seat=seat)
    assert table.state.seated == SEATS


def test_a_match_is_laid_out_with_what_its_pairs_bring() -> None:
    entry = PenaltyEntry(
        offence="late",
        seat=None,
        person=None,
        pair="P1",
        side="NS",
        event="Cup",
        round=1,
        match="M0",
        deal=0,
        at_ms=0,
        penalty="warning",
        article=None,
    )
    said = msgspec.to_builtins(meeting()) | {"record": [msgspec.to_builtins(entry)]}
    args: Any = parse_args("set_match", said)
    assert meeting_of(args) == (meeting(), (entry,))
    wrong: Any = parse_args("set_match", said | {"record": [{"offence": "late"}]})
    with pytest.raises(BadArgs, match=r"record\[0\]\.\w+: missing") as bad:
        meeting_of(wrong)
    assert re.search(r"^record\[0\]\.\w+：未写$", bad.value.found.zh)


# A deal.


def test_green_buttons_count_and_a_claim_stops_everything_until_the_referee_has_counted() -> None:
    table = Table().started().released()
    for seat in "NW":
        done(table, "confirm", PLAYERS, seat=seat)
    assert refused(table, "confirm", PLAYERS, seat="N") == "TWICE"
    done(table, "claim_count", PLAYERS, seat="S")
    assert refused(table, "confirm", PLAYERS, seat="S") == "SUSPENDED"
    done(table, "recount", counts=RIGHT, found=True)
    assert table.phase is MatchPhase.COUNT_CHECK
    assert isinstance(table.happened[-1], match_events.HandsRecounted)
    assert table.happened[-1].by == "Lin"
    assert refused(table, "recount", counts=RIGHT) == "NOT_SUSPENDED"


def test_who_is_out_is_said_at_the_seat_and_confirmed_by_an_opponent() -> None:
    table = Table().started().in_play()
    done(table, "out", PLAYERS, seat="N")
    assert not table.match.places
    assert refused(table, "confirm", PLAYERS, seat="S") == "NOT_HIS_DUTY"
    done(table, "confirm", PLAYERS, seat="E")
    assert table.match.places == ("N",)
    assert refused(table, "out", PLAYERS, seat="N") == "TWICE"


def test_a_referees_word_that_a_player_is_out_needs_no_other() -> None:
    table = done(Table().started().in_play(), "out", seat="N")
    assert table.match.places == ("N",)
    done(table, "withdraw_out", seat="N")
    assert not table.match.places
    assert refused(table, "withdraw_out", seat="N") == "NO_FINISH_ORDER"


def test_a_result_is_entered_and_confirmed_by_the_referee_for_both_sides() -> None:
    table = done(Table().started().in_play(), "result", order=["N", "W", "S"])
    assert table.phase is MatchPhase.RESULT
    assert refused(table, "confirm", PLAYERS) == "NOT_A_REFEREE"
    done(table, "confirm")
    assert table.levels == (4, 2)
    assert refused(table, "confirm") == "WRONG_PHASE"


def test_a_result_that_is_none_is_refused() -> None:
    table = Table().started().in_play()
    assert refused(table, "result", order=["N", "N"]) == "NO_FINISH_ORDER"


def test_each_side_confirms_with_a_green_button() -> None:
    table = Table().started().out("NWS")
    done(table, "confirm", PLAYERS, seat="S")
    assert refused(table, "confirm", PLAYERS, seat="N") == "TWICE"
    done(table, "confirm", PLAYERS, seat="E")
    assert table.levels == (4, 2)


def test_when_the_last_card_was_played_may_be_said_with_the_result() -> None:
    table = Table(timed()).started().in_play()
    began_ms = table.at_ms
    table.tick(minutes=2)
    done(table, "result", order=["N", "S"], ended_ms=began_ms + 60_000)
    assert table.state.ended_ms == began_ms + 60_000


# Tribute and return.


def test_a_tribute_is_entered_where_no_machine_knows_it() -> None:
    table = Table().started().played("NWS").laid()
    done(table, "tribute", seat="E", card="HA")
    assert table.match.exchange is not None
    assert table.match.exchange.values == {"E": 14}
    assert refused(table, "tribute", seat="N", card="HA") == "NOT_HIS_DUTY"
    assert refused(table, "tribute", seat="E", card="ZZ") == "NO_SUCH_CARD"


def test_a_level_card_counts_as_one() -> None:
    table = done(Table().started().played("NWS").laid(), "tribute", seat="E", card="S4")
    assert table.match.exchange is not None
    assert (table.match.level, table.match.exchange.values) == (4, {"E": 15})


def test_two_tributes_are_entered_together_and_corrected_one_by_one() -> None:
    table = Table().started().played("NS").laid()
    first, second = table.match.exchange.payers if table.match.exchange else ("E", "W")
    assert refused(table, "tribute", seat=first, card="SA") == "VALUES_MISSING"
    done(table, "tribute", seat=first, card="SA", other="SK")
    done(table, "tribute", seat=second, card="SQ")
    assert table.match.exchange is not None
    assert table.match.exchange.values == {first: 14, second: 12}


def test_a_tribute_before_it_was_laid_is_refused() -> None:
    table = (
        Table()
        .started()
        .played("NWS")
        .counted()
        .does(match_events.AntiTributeAnswered, stands=False)
    )
    assert refused(table, "tribute", seat="E", card="SA") == "NOT_LAID"


def test_a_return_is_entered_and_corrected() -> None:
    table = done(owed(Table().started()), "return", seat="N", card="S9")
    assert (table.phase, table.match.exchange and table.match.exchange.returned) == (
        MatchPhase.PLAY,
        {"E": 9},
    )
    done(table, "return", seat="N", card="S3")
    assert isinstance(table.happened[-1], match_events.ReturnCorrected)
    assert table.match.exchange is not None
    assert table.match.exchange.returned == {"E": 3}
    assert refused(table.does(match_events.LeadMade), "return", seat="N", card="S3") == "AFTER_LEAD"


def test_where_returns_are_secret_their_card_is_in_no_event() -> None:
    table = done(owed(Table(B).started()), "return", seat="N", card="S9")
    laid = table.happened[-1]
    done(table, "return", seat="N", card="S3")
    corrected = table.happened[-1]
    assert isinstance(laid, match_events.ReturnLaid)
    assert isinstance(corrected, match_events.ReturnCorrected)
    assert (laid.value, corrected.value) == (None, None)
    assert refused(table, "return", seat="N", card="S1") == "NO_SUCH_CARD"


def test_whether_anti_tribute_stands_is_entered_by_hand() -> None:
    table = done(Table().started().played("NWS").counted(), "anti", stands=True)
    assert (table.phase, table.match.leader) == (MatchPhase.PLAY, "N")
    assert refused(Table().started(), "anti", stands=True) == "WRONG_PHASE"


def test_up_chooses_one_of_two_equal_tributes() -> None:
    table = Table(varied(N, tribute={"double_tie": "choice"})).started()
    table.played("NS").valued(14, 14)
    assert refused(table, "choose", PLAYERS, payer="N") == "NOT_HIS_DUTY"
    done(table, "choose", PLAYERS, payer="W")
    assert refused(table, "choose", PLAYERS, payer="E") == "NO_CHOICE"


def test_losers_take_each_others_return_where_the_rulebook_lets_them() -> None:
    table = Table(N).started().played("NS").valued(14, 14)
    table.returned(5, 6)
    done(table, "swap_returns")
    assert refused(owed(Table().started()).returned(), "swap_returns") == "NO_CHOICE"


# Clocks and stops.


def test_a_table_is_held_and_goes_on() -> None:
    table = done(Table().started(), "hold", reason="an ill player")
    assert table.state.suspended == "an ill player"
    assert refused(table, "hold", reason="again") == "SUSPENDED"
    done(table, "resume")
    assert refused(table, "resume") == "NOT_SUSPENDED"


def test_the_area_is_the_chiefs_to_stop() -> None:
    table = Table(timed()).started()
    assert refused(table, "hold", reason="fire alarm", area=True) == "NEEDS_CHIEF"
    done(table, "hold", CHEN, reason="fire alarm", area=True)
    assert table.state.clock.watch is not None
    assert table.state.clock.watch.is_paused
    assert refused(table, "resume", area=True) == "NEEDS_CHIEF"
    done(table, "resume", CHEN, area=True)
    assert not table.state.clock.watch.is_paused


def test_a_players_clock_is_called_and_stops_at_his_green_button() -> None:
    table = done(Table().started().in_play().does(match_events.LeadMade), "call_clock", seat="W")
    done(table, "warn", seat="W")
    assert refused(table, "warn", seat="N") == "NO_CLOCK"
    done(table, "confirm", PLAYERS, seat="W")
    assert isinstance(table.happened[-1], match_events.PlayMade)


def test_much_added_time_is_the_chiefs() -> None:
    table = Table(timed()).started()
    assert refused(table, "add_time", seconds=900) == "MUCH_TIME"
    done(table, "add_time", seconds=60)
    done(table, "add_time", CHEN, seconds=900)
    assert table.state.clock.added_ms == 960_000


def test_a_deal_that_time_has_overtaken_is_stopped() -> None:
    table = Table(timed(H, at_time="stop_now")).started().in_play()
    assert refused(table, "stop_deal", reason="time is up") == "NOT_STOPPED_BY_TIME"
    done(table.at_minute(61), "stop_deal", reason="time is up")
    assert table.rows(StoppedRow)[-1].reason == "time is up"


# Rulings.


def test_a_referee_proposes_what_the_ladder_says_and_decides_on_a_warning() -> None:
    table = Table().started().in_play()
    done(table, "propose", offence="disturbance", seat="W", pointed_out_by="N")
    (ruling,) = table.match.rulings
    assert (ruling.id, ruling.by, ruling.charge.person) == ("R1", "Lin", "Wu")
    assert ruling.proposal.penalty == "warning"
    assert (ruling.charge.deal, ruling.charge.pair, ruling.charge.match) == (1, "P2", "M1")
    done(table, "approve", ruling="R1")
    assert table.rows(RulingRow)[-1].penalty == "warning"
    assert refused(table, "approve", ruling="R1") == "NOT_OPEN"
    assert refused(table, "approve", ruling="R7") == "NO_SUCH_RULING"


def test_the_choices_for_a_charge_begin_with_what_the_ladder_says() -> None:
    table = Table().started().in_play()
    said: Any = parse_args("rulings", {"offence": "play_out_of_turn", "seat": "W"})
    legal = legal_rulings(table.state, said, table.at_ms)
    done(table, "propose", offence="play_out_of_turn", seat="W")
    assert table.match.rulings[0].proposal == legal[0]


def test_a_charge_says_when_it_happened_and_who_it_was_but_never_later_than_now() -> None:
    table = Table().started().played("NS").in_play()
    said: dict[str, Any] = {"offence": "disturbance", "seat": "W", "deal": 1, "kind": "noise"}
    done(table, "propose", **said, offence_ms=700, person="Guest", pointed_out_by="N")
    done(table, "propose", offence="disturbance", side="EW", offence_ms=table.at_ms + 9000)
    first, second = (ruling.charge for ruling in table.match.rulings)
    assert (first.at_ms, first.person, first.deal, first.side) == (700, "Guest", 1, "EW")
    assert (first.pointed_out_by, first.kind) == ("N", "noise")
    assert (second.at_ms, second.person, second.deal) == (table.at_ms, None, 2)


def test_an_offence_that_there_is_not_is_refused() -> None:
    table = Table().started().in_play()
    assert refused(table, "propose", offence="yawning", seat="W") == "NOT_LEGAL"


def test_a_penalty_beside_the_ladder_is_the_chiefs_to_name() -> None:
    table = Table().started().in_play()
    said: dict[str, Any] = {"offence": "disturbance", "seat": "W", "penalty": "match_forfeit"}
    assert refused(table, "propose", **said) == "NEEDS_CHIEF"
    done(table, "propose", CHEN, **said)
    assert table.match.rulings[0].proposal.article == "A15.3.7"


def test_the_chief_changes_a_ruling() -> None:
    table = Table().started().in_play()
    done(table, "propose", offence="disturbance", seat="W")
    assert refused(table, "approve", ruling="R1", penalty="foul") == "NEEDS_CHIEF"
    done(table, "approve", CHEN, ruling="R1", penalty="foul")
    (ruling,) = table.match.rulings
    assert (ruling.proposal.penalty, ruling.approved_by) == ("foul", "Chen")
    assert ruling.changed_from is not None
    assert ruling.changed_from.penalty == "warning"


def test_the_chiefs_word_is_recorded_with_his_name_and_confirmed_by_him_later() -> None:
    table = Table().started().in_play()
    done(table, "propose", CHEN, offence="other", seat="W", penalty="foul")
    assert refused(table, "approve", ruling="R1") == "NEEDS_CHIEF"
    done(table, "approve", ruling="R1", **WORD)
    (ruling,) = table.match.rulings
    assert (ruling.approved_by, ruling.state, is_unconfirmed(ruling)) == ("Chen", "decided", True)
    assert ruling.entered_by == "Lin"
    assert refused(table, "confirm_verbal", ruling="R1") == "NEEDS_CHIEF"
    done(table, "confirm_verbal", CHEN, ruling="R1")
    assert table.match.rulings[0].confirmed_by == "Chen"
    assert refused(table, "confirm_verbal", CHEN, ruling="R1") == "NOT_VERBAL"


def test_a_proposed_ruling_is_rejected_and_a_decided_one_overturned_by_the_chief() -> None:
    table = Table().started().in_play()
    for _ in range(2):
        done(table, "propose", offence="disturbance", seat="W")
    done(table, "reject", ruling="R1")
    done(table, "approve", ruling="R2")
    assert refused(table, "reject", ruling="R2") == "NEEDS_CHIEF"
    done(table, "reject", ruling="R2", **WORD)
    assert [ruling.state for ruling in table.match.rulings] == ["rejected", "rejected"]
    assert table.match.rulings[1].rejected_by == "Chen"
    assert table.match.rulings[1].rejection_entered_by == "Lin"


def test_a_ruling_never_gets_the_id_of_another() -> None:
    table = Table().started().in_play()
    done(table, "propose", offence="disturbance", seat="W", id="R2")
    done(table, "propose", offence="disturbance", seat="W")
    assert [ruling.id for ruling in table.match.rulings] == ["R2", "R3"]
    assert refused(table, "propose", offence="disturbance", seat="W", id="R3") == "TWICE"


def test_a_forfeited_match_is_proposed_and_approved_at_once() -> None:
    table = Table().started().in_play()
    assert refused(table, "forfeit", side="EW", reason="they left") == "NEEDS_CHIEF"
    done(table, "forfeit", CHEN, side="EW", reason="they left")
    (ruling,) = table.match.rulings
    assert (ruling.charge.offence, ruling.charge.seat) == ("default", None)
    assert (ruling.proposal.penalty, ruling.approved_by) == ("match_forfeit", "Chen")
    assert table.phase is MatchPhase.OVER
    assert table.state.verdict is not None
    assert table.state.verdict.winner == "NS"


def test_who_comes_too_late_loses_the_match_before_it_began() -> None:
    table = Table().seated("NS").does(match_events.MatchStarted)
    done(table, "forfeit", CHEN, side="EW", reason="not there", offence="late")
    assert table.match.rulings[0].charge.deal == 0
    assert table.phase is MatchPhase.OVER


# Decisions.


def test_hands_that_are_out_are_dealt_again_by_the_chief_or_his_word() -> None:
    table = Table().started().in_play()
    assert refused(table, "redeal", reason="cards were seen") == "NEEDS_CHIEF"
    done(table, "redeal", reason="cards were seen", **WORD)
    event = table.happened[-1]
    assert isinstance(event, match_events.DealVoided)
    assert (event.by, event.role, event.verbal) == ("Chen", Role.REFEREE, True)
    assert event.entered_by == "Lin"
    assert table.rows(RedealtRow)[-1].entered_by == "Lin"
    assert (table.phase, table.state.misdeals) == (MatchPhase.CUT, 1)


def test_a_result_is_corrected_by_a_referee_until_later_deals_are_played() -> None:
    table = Table().started().played("NS")
    done(table, "adjust", deal=1, order=["N", "W", "S"], reason="written wrongly")
    assert table.rows(CorrectionRow)[-1].by == "Lin"
    table.in_play()
    said: dict[str, Any] = {"deal": 1, "order": ["N", "S"], "reason": "right", "choice": "stand"}
    assert refused(table, "adjust", **said) == "NEEDS_CHIEF"
    done(table, "adjust", **said, **WORD)
    assert (table.rows(CorrectionRow)[-1].by, table.rows(CorrectionRow)[-1].choice) == (
        "Chen",
        "stand",
    )
    assert refused(table, "adjust", CHEN, deal=7, order=["N", "S"], reason="x") == "NO_SUCH_DEAL"


def test_a_correction_by_the_chiefs_word_names_who_entered_it_and_waits_for_the_chief() -> None:
    table = Table().started().played("NS").in_play()
    done(table, "adjust", deal=1, order=["N", "W", "S"], reason="misread", **WORD)
    row = table.rows(CorrectionRow)[-1]
    assert (row.by, row.entered_by) == ("Chen", "Lin")
    (waiting,) = unconfirmed_corrections(table.match)
    assert (waiting.row, waiting.deal, waiting.by, waiting.entered_by) == (
        row.row,
        1,
        "Chen",
        "Lin",
    )
    assert refused(table, "confirm_verbal", correction=row.row) == "NEEDS_CHIEF"
    assert refused(table, "confirm_verbal", CHEN, correction=1) == "NOT_VERBAL"
    done(table, "confirm_verbal", CHEN, correction=row.row)
    assert unconfirmed_corrections(table.match) == []
    assert table.match.spoken == {row.row: "Chen"}
    assert refused(table, "confirm_verbal", CHEN, correction=row.row) == "NOT_VERBAL"


def test_what_the_chief_or_a_referee_corrects_himself_waits_for_nobody() -> None:
    table = Table().started().played("NS")
    done(table, "adjust", deal=1, order=["N", "W", "S"], reason="misread")
    done(table.in_play(), "adjust", CHEN, deal=1, order=["N", "S"], reason="read again")
    assert [row.entered_by for row in table.rows(CorrectionRow)] == [None, None]
    assert unconfirmed_corrections(table.match) == []


@pytest.mark.parametrize("said", [{}, {"ruling": "R1", "correction": 2}])
def test_a_word_is_of_one_ruling_or_of_one_correction(said: dict[str, Any]) -> None:
    with pytest.raises(BadArgs):
        parse_args("confirm_verbal", said)


def test_after_a_forfeited_deal_its_winners_name_a_leader() -> None:
    table = Table().started().in_play().ruled("EW", "foul")
    assert refused(table, "name_leader", seat="W") == "OTHER_SIDE"
    done(table, "name_leader", seat="S")
    assert table.phase is MatchPhase.CUT
    assert refused(table, "name_leader", seat="S") == "WRONG_PHASE"


def test_an_extra_deal_is_the_chiefs() -> None:
    table = knockout().played("NS", "WE").at_minute(60)
    assert refused(table, "extra_deal", reason="equal") == "NEEDS_CHIEF"
    done(table, "extra_deal", reason="equal", **WORD)
    assert table.match.extra
    assert refused(table, "extra_deal", CHEN, reason="equal") == "WRONG_PHASE"


# By hand.


def test_a_deal_is_shuffled_cut_turned_up_and_drawn_by_hand() -> None:
    table = done(Table().started(), "dealt_by_hand", reason="the machine is broken")
    assert refused(table, "dealt_by_hand", reason="still") == "TWICE"
    duties = table.state.duties
    assert duties is not None
    shuffler: Seat = duties.shufflers[0] if duties.shufflers else "N"
    assert refused(table, "cut_by_hand", seat="N", n=40) == "WRONG_PHASE"
    done(table, "shuffled", seat=shuffler)
    assert table.state.duties is not None
    cutter = table.state.duties.cutters[0]
    assert refused(table, "cut_by_hand", seat=cutter, n=1) == "ILLEGAL_CUT"
    done(table, "cut_by_hand", seat=cutter, n=40)
    assert refused(table, "turned_up", card="Z9") == "NO_SUCH_CARD"
    done(table, "turned_up", card="S7")
    done(table, "hands_dealt", turned_to="E")
    assert (table.phase, table.state.by_hand) == (MatchPhase.COUNT_CHECK, True)


def test_what_the_machine_deals_is_not_entered_by_hand() -> None:
    table = Table().started()
    assert refused(table, "cut_by_hand", seat="S", n=40) == "NOT_BY_HAND"
    table.cut()
    assert refused(table, "hands_dealt", turned_to="E") == "NOT_BY_HAND"


# The sheet.


def test_the_sheet_is_signed_by_who_has_to() -> None:
    table = Table().started()
    assert refused(table, "sign", signer="NS", person="Nan") == "WRONG_PHASE"
    done(table, "forfeit", CHEN, side="EW", reason="they left")
    done(table, "sign", signer="NS", person="Nan")
    assert refused(table, "sign", signer="NS", person="Nan") == "NO_SIGNER"
    done(table, "sign", signer="EW", person="Wu")
    done(table, "sign", signer="referee", person="Lin")
    assert table.phase is MatchPhase.SIGNED


def test_a_name_is_put_under_no_other_version_of_the_sheet_than_was_seen() -> None:
    table = Table().started()
    done(table, "forfeit", CHEN, side="EW", reason="they left")
    assert refused(table, "sign", signer="NS", person="Nan", version=2) == "STALE"
    done(table, "sign", signer="NS", person="Nan", version=1)


# Big Two.


def test_big_two_is_answered_counted_and_confirmed() -> None:
    table = Table(BIG_TWO).started().dealt("W").does(match_events.HandsReleased)
    for seat in SEATS:
        done(table, "answer", PLAYERS, seat=seat, yes=False)
    assert refused(table, "answer", PLAYERS, seat="N", yes=True) == "NOT_HIS_DUTY"
    for seat in ("W", "S", "E", "N"):
        done(table, "answer", PLAYERS, seat=seat, yes=False)
    done(table, "left", left={"N": 0, "W": 3, "S": 7, "E": 1})
    done(table, "confirm")
    assert len(table.big_two.rows) == 1
    assert refused(table, "left", left=RIGHT) == "WRONG_PHASE"


@pytest.mark.parametrize(
    ("cmd", "said"),
    [
        ("propose", {"offence": "late", "side": "NS"}),
        ("approve", {"ruling": "R1"}),
        ("forfeit", {"side": "NS", "reason": "left"}),
        ("tribute", {"seat": "N", "card": "SA"}),
        ("return", {"seat": "N", "card": "SA"}),
        ("result", {"order": ["N", "S"]}),
    ],
)
def test_what_only_guandan_has_is_refused_in_big_two(cmd: str, said: dict[str, Any]) -> None:
    assert refused(Table(BIG_TWO).started(), cmd, CHEN, **said) == "OTHER_RULES"


def test_cards_left_and_answers_are_refused_in_guandan() -> None:
    table = Table(INTL).started().in_play()
    assert refused(table, "left", left=RIGHT) == "OTHER_RULES"
    assert refused(table, "answer", PLAYERS, seat="N", yes=True) == "OTHER_RULES"

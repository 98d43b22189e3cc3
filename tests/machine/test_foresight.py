"""What a decision would do is what it then does; and asking changes nothing."""

from typing import Any

import msgspec
import pytest

from controller.commands.registry import parse_args
from controller.machine.commands.command_events import events_of_command
from controller.machine.commands.command_request import CommandRefused, CommandSigner
from controller.machine.commands.decision_preview import lost_time, preview_decision
from controller.machine.public.public_match import public_match
from controller.machine.state.table_match import TableMatch, apply_event
from controller.match import match_events
from controller.messages import Role
from tests.match.table import BIG_TWO, INTL, B, N, Table, timed

CHEN = CommandSigner("Chen", Role.CHIEF)


def ahead(table: Table, cmd: str, **args: Any) -> dict[str, Any]:
    """What the table answers to `foresee`."""
    said: Any = parse_args("foresee", {"cmd": cmd, "args": args})
    return preview_decision(TableMatch(match=table.state), said, table.at_ms + 100)


def done(table: Table, cmd: str, **args: Any) -> Any:
    """The match as the public has it after the decision was really made."""
    play = TableMatch(match=table.state)
    at_ms = table.at_ms + 100
    assert play.match is not None
    for event in events_of_command(cmd, parse_args(cmd, args), CHEN, play.match, at_ms):
        play = apply_event(play, event)
    return public_match(
        play, profile=table.profile.name, now_ms=at_ms, deal=1, leader=None, turned_up=None
    )


def as_public(then: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(then[name] for name in ("levels", "level", "deal", "phase", "next_en", "next_zh"))


CASES: dict[str, tuple[Table, str, dict[str, Any]]] = {
    "a result corrected from now on": (
        Table().started().played("NS", "NWS", "ENW").in_play(),
        "adjust",
        {"deal": 1, "order": ["E", "W"], "choice": "from_now", "reason": "read wrongly"},
    ),
    "a result corrected, later deals void": (
        Table().started().played("NS", "NWS", "ENW").in_play(),
        "adjust",
        {"deal": 1, "order": ["E", "W"], "choice": "void_later", "reason": "read wrongly"},
    ),
    "a mistake that stands": (
        Table().started().played("NS", "NWS"),
        "adjust",
        {"deal": 1, "order": ["E", "W"], "choice": "stand", "reason": "read wrongly"},
    ),
    "a foul that takes the deal": (
        Table().started().played("NS").in_play().charged("E", "foul"),
        "approve",
        {"ruling": "R1"},
    ),
    "a foul that gives a level": (
        Table(N).started().played("NS").in_play().charged("E", "foul"),
        "approve",
        {"ruling": "R1"},
    ),
    "a ruling overturned": (
        Table(N).started().played("NS").in_play().ruled("EW", "foul"),
        "reject",
        {"ruling": "R1"},
    ),
    "a match lost": (
        Table(B).started().played("NS").in_play(),
        "forfeit",
        {"side": "NS", "reason": "gone"},
    ),
    "a redeal": (Table().started().released(), "redeal", {"reason": "a spectator"}),
    "an extra deal": (
        Table(timed(equal_knockout="extra_deal"), "knockout")
        .started()
        .played("NS", "EW")
        .at_minute(61),
        "extra_deal",
        {"reason": "equal"},
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_what_is_foreseen_is_what_happens(what: str) -> None:
    table, cmd, args = CASES[what]
    before = msgspec.json.encode(table.state)
    found = ahead(table, cmd, **args)
    assert msgspec.json.encode(table.state) == before
    after = done(table, cmd, **args)
    assert as_public(found["then"]) == (
        after.levels,
        after.level,
        after.deal,
        after.phase,
        after.next_en,
        after.next_zh,
    )
    assert (found["then"]["verdict"] is None) == (after.verdict is None)


def test_the_deals_that_would_be_void_are_named_and_the_one_that_would_stop() -> None:
    table, cmd, args = CASES["a result corrected, later deals void"]
    found = ahead(table, cmd, **args)
    assert found["void"] == (2, 3)
    assert found["stopped"] == 4
    assert found["now"]["levels"] == {"NS": "7", "EW": "4"}
    assert found["then"]["levels"] == {"NS": "2", "EW": "5"}


def test_a_proposal_is_foreseen_as_if_it_were_in_force() -> None:
    table = Table(N).started().played("NS").in_play()
    found = ahead(table, "propose", offence="play_out_of_turn", seat="W", pointed_out_by="N")
    assert (found["now"]["levels"]["NS"], found["then"]["levels"]["NS"]) == ("5", "6")


def test_a_decision_that_cannot_be_is_refused_in_the_matchs_words() -> None:
    table = Table().started().played("NS")
    with pytest.raises(CommandRefused) as why:
        ahead(table, "approve", ruling="R9")
    assert why.value.failure.code == "NO_SUCH_RULING"
    with pytest.raises(CommandRefused) as why:
        ahead(table, "adjust", deal=1, order=["N", "N"], reason="x")
    assert why.value.failure.code == "NO_FINISH_ORDER"


def test_arguments_that_are_none_are_told() -> None:
    with pytest.raises(CommandRefused) as why:
        ahead(Table().started(), "adjust", deal=0)
    assert why.value.failure.code == "BAD_COMMAND"
    assert why.value.failure.message_zh.endswith("args: deal = 0，应为副的序号，从1起")


def test_big_two_has_nothing_to_foresee() -> None:
    with pytest.raises(CommandRefused) as why:
        ahead(Table(BIG_TWO).started(), "redeal", reason="x")
    assert why.value.failure.code == "NO_MATCH"


def test_the_time_of_a_stop_is_proposed_with_its_reason() -> None:
    table = Table(timed()).started().played("NS").in_play()
    table.does(match_events.TableSuspended, reason="a card is stuck").tick(minutes=2).does(
        match_events.TableResumed
    )
    found = lost_time(table.state, table.at_ms)
    assert found["seconds"] == 121
    assert found["needs"] == "referee"
    assert [(stop["reason"], stop["lasts"]) for stop in found["stops"]] == [
        ("a card is stuck", False)
    ]
    table.does(match_events.TimeAdded, seconds=121, role=Role.REFEREE)
    assert lost_time(table.state, table.at_ms)["seconds"] == 0


def test_much_lost_time_is_the_chiefs_to_give_back() -> None:
    table = Table(timed()).started().played("NS").in_play()
    table.does(match_events.TableSuspended, reason="fire alarm").tick(minutes=9)
    found = lost_time(table.state, table.at_ms)
    assert found["needs"] == "chief"
    assert [stop["lasts"] for stop in found["stops"]] == [True]


def test_without_a_match_no_time_is_lost() -> None:
    with pytest.raises(CommandRefused) as why:
        lost_time(None, 0)
    assert why.value.failure.code == "NO_MATCH"
    assert lost_time(Table(INTL).started().state, 0)["seconds"] == 0

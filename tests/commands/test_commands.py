"""The table of commands: who may give each, when, and what it may say."""

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.commands.argument_values import PenaltyName
from controller.commands.registry import (
    COMMANDS,
    BadArgs,
    parse_args,
    role_or_phase_refusal,
    usage_line,
)
from controller.commands.ruling_arguments import AdjustArgs, ChargeArgs
from controller.host.printable_text import is_printable
from controller.match.sheet_rows import CorrectionChoice
from controller.messages import MachinePhase, Role
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import Penalty
from tests.commands.examples import example
from tests.rows import each_row

READING = {"snapshot", "events", "sheet", "rulings", "document", "foresee", "lost_time", "offers"}
AT_THE_TABLE = {"seat", "cut", "confirm", "out", "call", "claim_count", "answer", "choose"}
CHIEFS = {"start_match", "confirm_verbal", "forfeit", "void", "open_hand"}
TECHNICIANS = {"selftest", "configure", "calibrate"}
CONTRACT = (
    "snapshot events seat cut confirm out call claim_count start_match start_deal hold resume "
    "release recount replace_set result tribute return propose name_leader extra_deal add_time "
    "adjust acknowledge clear_jam dealt_by_hand transfer sign approve reject redeal void forfeit "
    "open_hand selftest configure calibrate"
)


def given_by(role: Role) -> set[str]:
    return {cmd for cmd, order in COMMANDS.items() if role in order.roles}


def test_every_command_of_the_contract_is_there() -> None:
    assert set(CONTRACT.split()) <= set(COMMANDS)


def test_the_table_may_do_what_its_players_do_and_nothing_else() -> None:
    assert given_by(Role.TABLE) == AT_THE_TABLE | READING


def test_a_technician_never_releases_hands_or_touches_a_match() -> None:
    assert given_by(Role.TECHNICIAN) == TECHNICIANS | READING
    assert all(COMMANDS[cmd].bound_to == "none" for cmd in TECHNICIANS)
    assert all(
        COMMANDS[cmd].phases <= {MachinePhase.FAULT, MachinePhase.EMPTY} for cmd in TECHNICIANS
    )


def test_an_observer_only_reads() -> None:
    assert given_by(Role.OBSERVER) == READING


def test_the_chief_may_do_all_that_a_referee_may_and_some_things_alone() -> None:
    assert given_by(Role.CHIEF) - given_by(Role.REFEREE) == CHIEFS
    assert given_by(Role.CHIEF) == set(COMMANDS) - TECHNICIANS


def test_whatever_changes_anything_is_signed() -> None:
    assert {cmd for cmd, order in COMMANDS.items() if not order.signed} == READING


def test_what_a_match_decides_has_no_phase_of_the_machine() -> None:
    bound = [order for order in COMMANDS.values() if order.bound_to == "match"]
    assert bound
    assert all(order.phases == set(MachinePhase) for order in bound)


def test_what_moves_cards_names_the_attempt_that_is_under_way() -> None:
    machines = {cmd for cmd, order in COMMANDS.items() if order.bound_to == "machine"}
    assert machines == {"cut", "release", "void"}


def test_every_command_says_in_a_line_what_it_does() -> None:
    for cmd, order in COMMANDS.items():
        assert 10 <= len(order.help) <= 60, cmd
        assert order.args.__doc__, cmd


def test_a_refusal_names_the_roles_and_the_phases() -> None:
    role = role_or_phase_refusal("release", Role.TABLE, MachinePhase.HELD)
    phase = role_or_phase_refusal("release", Role.CHIEF, MachinePhase.DEALING)
    unknown = role_or_phase_refusal("sing", Role.CHIEF, MachinePhase.HELD)
    assert role is not None
    assert role.code == "WRONG_ROLE"
    assert role.action == "ask a referee or the chief referee"
    assert phase is not None
    assert phase.code == "WRONG_PHASE"
    assert phase.action == "possible while the hands are ready, locked in"
    assert unknown is not None
    assert unknown.code == "UNKNOWN_COMMAND"
    assert role_or_phase_refusal("release", Role.CHIEF, MachinePhase.HELD) is None


def test_a_refusal_is_in_words_and_not_in_the_names_of_programs() -> None:
    refused = role_or_phase_refusal("start_deal", Role.CHIEF, MachinePhase.DEALING)
    assert refused is not None
    assert refused.message == ('"Start the deal" is not possible while the cards are being dealt')
    assert refused.action == (
        "possible while the machine is idle, or the cut is waited for, or the hands are out"
    )
    assert refused.message_zh == "发牌机处于“发牌中”，不能执行“开始发牌”"
    assert refused.action_zh == "发牌机处于以下阶段时可执行：“空闲”、“待切牌”、“已放行”"


def test_a_usage_shows_what_may_be_left_out() -> None:
    assert usage_line("cut") == "cut n [seat]"
    assert usage_line("release") == "release"


# What a command may say.

BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("cut", {}, "n: missing", "a number of cards, in most rulebooks from 6 to 102"),
    ("cut", {"n": True}, "n = true", "a number of cards, in most rulebooks from 6 to 102"),
    ("cut", {"n": 0}, "n = 0", "a number of cards, in most rulebooks from 6 to 102"),
    ("cut", {"n": 40.5}, "n = 40.5", "a number of cards, in most rulebooks from 6 to 102"),
    ("cut", {"n": 40, "seat": "Z"}, 'seat = "Z"', 'a seat: "N", "W", "S" or "E"'),
    ("cut", {"n": 40, "sear": "N"}, "sear: unknown key", '"seat"?'),
    ("release", {"now": 1}, "now: unknown key", "nothing here"),
    ("out", {"seat": ["N"]}, 'seat = ["N"]', 'a seat: "N", "W", "S" or "E"'),
    ("hold", {"reason": "a\nb"}, 'reason = "a\\nb"', "one line of text, 1 to 200 characters"),
    ("hold", {"reason": ""}, 'reason = ""', "one line of text, 1 to 200 characters"),
    ("start_deal", {"uncut": True}, "uncut without a reason", "uncut=true and a reason"),
    (
        "result",
        {"order": ["N"]},
        'order = ["N"]',
        "a list of the seats that went out, in this order",
    ),
    ("result", {"order": ["N", 2]}, "order[1] = 2", 'a seat: "N", "W", "S" or "E"'),
    ("recount", {"counts": {"N": 27}}, "counts.W: missing", "a number of cards from 0 to 108"),
    (
        "recount",
        {"counts": {"N": 27, "W": 27, "S": 27, "E": -1}},
        "counts.E = -1",
        "a number of cards from 0 to 108",
    ),
    ("propose", {"offence": "late"}, "neither side nor seat is given", "one of them"),
    (
        "propose",
        {"offence": "late", "side": "NS", "seat": "E"},
        "seat E does not play for NS",
        "a seat of that side",
    ),
    ("propose", {"offence": "late", "side": "N"}, 'side = "N"', 'a side: "NS" or "EW"'),
    (
        "approve",
        {"ruling": "R1", "verbal": True},
        "verbal without by",
        "the name of the chief who decided",
    ),
    (
        "redeal",
        {"reason": "seen", "by": "Chen"},
        "by without verbal",
        "verbal=true if the chief decided verbally",
    ),
    ("cut_by_hand", {"n": 40}, "seat and n go together", "both or neither"),
]


@each_row(("cmd", "args", "found", "expected"), BAD)
def test_bad_arguments_are_told_in_one_line(
    cmd: str, args: dict[str, Any], found: str, expected: str
) -> None:
    with pytest.raises(BadArgs) as bad:
        parse_args(cmd, args)
    assert (bad.value.found.en, bad.value.expected.en) == (found, expected)


def test_a_player_on_a_seat_of_the_other_side_is_refused() -> None:
    said = example("set_match")
    said["pairs"]["NS"]["players"] = {"E": "Li Na"}
    with pytest.raises(BadArgs, match=r"NS\.players names another seat, expected N, S"):
        parse_args("set_match", said)


def test_arguments_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    with pytest.raises(BadArgs) as bad:
        parse_args("cut", {"n": deep})
    assert "\n" not in str(bad.value)
    assert len(str(bad.value)) < 600


def test_a_command_that_does_not_exist_has_no_arguments() -> None:
    with pytest.raises(LookupError):
        parse_args("sing", {})


@each_row("cmd", COMMANDS)
def test_the_examples_of_every_command_are_taken(cmd: str) -> None:
    said = example(cmd)
    if cmd == "rulings" or cmd == "propose":
        said["seat"] = "N"
    if cmd == "confirm_verbal":
        said["ruling"] = "R1"
    assert isinstance(parse_args(cmd, said), COMMANDS[cmd].args)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
_NAMES = sorted({name for order in COMMANDS.values() for name in order.args.__struct_fields__})


@given(
    cmd=st.sampled_from(sorted(COMMANDS)),
    args=st.dictionaries(st.sampled_from(_NAMES) | st.text(max_size=6), _JSON, max_size=4),
)
def test_whatever_is_said_is_taken_or_refused_in_one_printable_line(
    cmd: str, args: dict[str, Any]
) -> None:
    said = told(cmd, args)
    assert said is None or (all(map(is_printable, said)) and len(said) < 1200)


def told(cmd: str, args: dict[str, Any]) -> str | None:
    """What a person reads of arguments that are not taken."""
    try:
        parse_args(cmd, args)
    except BadArgs as bad:
        return f"{bad.found.en} / {bad.expected.en} / {bad.found.zh} / {bad.expected.zh}"
    return None


def test_the_words_of_charges_and_penalties_are_those_of_the_rules() -> None:
    assert set(get_args(PenaltyName)) == set(get_args(Penalty))
    assert get_args(_type(AdjustArgs, "choice")) == get_args(CorrectionChoice)
    for name in ("pointed_out_when", "settled_by_players"):
        assert _type(ChargeArgs, name) == _type(Charge, name)
    assert set(get_args(_type(ChargeArgs, "pointed_out_by"))) == {
        "N", "W", "S", "E", "referee", "clock", "outsider"
    }  # fmt: skip


def _type(shape: type[msgspec.Struct], name: str) -> Any:
    return {field.name: field.type for field in msgspec.structs.fields(shape)}[name]

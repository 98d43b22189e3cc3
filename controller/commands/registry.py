"""The commands of a table: roles, phases, arguments, and whether each is signed.

The registry is one table. A refusal lists the roles and phases from this table. The phases here are
the machine's phases. The match itself checks its own phases.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from controller.commands.argument_values import Args, VerbalReasonArgs
from controller.commands.match_arguments import (
    AddTimeArgs,
    AnswerArgs,
    AntiArgs,
    CardsLeftArgs,
    ChooseArgs,
    CutByHandArgs,
    DocumentArgs,
    HandsDealtArgs,
    RecountArgs,
    ResultArgs,
    ReturnArgs,
    SetMatchArgs,
    SignArgs,
    TakeOverArgs,
    TransferArgs,
    TributeArgs,
    TurnedUpArgs,
)
from controller.commands.ruling_arguments import (
    AdjustArgs,
    ApproveArgs,
    ChargeArgs,
    ConfirmVerbalArgs,
    ForeseeArgs,
    ForfeitArgs,
    ProposeArgs,
    RejectArgs,
)
from controller.commands.table_arguments import (
    AcknowledgeArgs,
    AttendArgs,
    CalibrateArgs,
    CallArgs,
    ClearSetArgs,
    ConfigureArgs,
    ConfirmArgs,
    CutArgs,
    EventsArgs,
    HoldArgs,
    NoArgs,
    OneSeatArgs,
    OpenHandArgs,
    ReasonArgs,
    ReplaceSetArgs,
    ResumeArgs,
    RoleArgs,
    SeatArgs,
    StartDealArgs,
)
from controller.faults import fault
from controller.host.printable_text import MAX_SHOWN_CHARACTERS, escape_unprintable, shorten
from controller.host.toml_files import explain_error, same_words
from controller.messages import CommandReply, Failure, MachinePhase, Role
from controller.words import (
    COMMAND_WORDS,
    MACHINE_PHASE_WORDS,
    Words,
    phase_clauses,
    quoted_words,
    roles_with_article,
)

BoundTo = Literal["none", "machine", "match"]
Form = TypeVar("Form")


class CommandSpec(NamedTuple):
    """The declaration of one command: its roles, its phases, its arguments and its effect.

    `phases` are the machine's phases in which the command is possible. A match command has all of
    them. `signed` is True if the command changes something, so that the role of its key is checked.
    `bound_to` names what the command must refer to: the machine's present attempt, or the match's
    present deal and attempt. Otherwise the command is STALE. `args` is the type of its arguments.
    `help` is the effect, in one line for people.
    """

    roles: frozenset[Role]
    phases: frozenset[MachinePhase]
    signed: bool
    bound_to: BoundTo
    args: type[Args]
    help: str


class BadArgs(Exception):
    """The error for wrong arguments of a command. It has two texts: what was found and expected.

    Each text is part of one line, as in the fault BAD_COMMAND of the catalogue.
    """

    def __init__(self, found: Words, expected: Words) -> None:
        """Store what was found and what was expected. Unprintable characters are escaped."""
        self.found = _one_line(found, 3 * MAX_SHOWN_CHARACTERS)
        self.expected = _one_line(expected, 6 * MAX_SHOWN_CHARACTERS)
        super().__init__(f"{self.found.en}, expected {self.expected.en}")


def _one_line(words: Words, longest: int) -> Words:
    return Words(
        escape_unprintable(shorten(words.en, longest)),
        escape_unprintable(shorten(words.zh, longest)),
    )


_ALL_ROLES: Final = frozenset(Role)
_CHIEF: Final = frozenset({Role.CHIEF})
_REFEREES: Final = _CHIEF | {Role.REFEREE}
_AT_TABLE: Final = _REFEREES | {Role.TABLE}
_TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
_ALL_PHASES: Final = frozenset(MachinePhase)
_IDLE: Final = frozenset({MachinePhase.FAULT, MachinePhase.EMPTY})
_STARTABLE: Final = frozenset(
    {MachinePhase.EMPTY, MachinePhase.COMMITTED, MachinePhase.RELEASED}
)  # In RELEASED, the next deal may start early (deal-ahead).
_VOIDABLE: Final = _ALL_PHASES - {MachinePhase.EMPTY, MachinePhase.RELEASED}
_MOTIONLESS: Final = _ALL_PHASES - {MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING}


def _reads(args: type[Args], help: str) -> CommandSpec:
    return CommandSpec(_ALL_ROLES, _ALL_PHASES, False, "none", args, help)


def _machine(
    args: type[Args],
    help: str,
    phases: frozenset[MachinePhase] = _ALL_PHASES,
    *,
    roles: frozenset[Role] = _REFEREES,
    bound_to: BoundTo = "none",
) -> CommandSpec:
    return CommandSpec(roles, phases, True, bound_to, args, help)


def _match(
    args: type[Args], help: str, bound_to: BoundTo = "match", *, roles: frozenset[Role] = _REFEREES
) -> CommandSpec:
    return CommandSpec(roles, _ALL_PHASES, True, bound_to, args, help)


# Referees and the chief give a command, unless its row names other `roles`.
COMMANDS: Final[Mapping[str, CommandSpec]] = {
    # Reading commands: for everybody, unsigned.
    "snapshot": _reads(NoArgs, "return the whole public state"),
    "events": _reads(EventsArgs, "return the public entries of the journal"),
    "sheet": _reads(NoArgs, "return the score sheet (记分表)"),
    "document": _reads(DocumentArgs, "return one part of the data of a match that left this table"),
    "rulings": _reads(ChargeArgs, "list the legal penalties for a charge; the ladder's is first"),
    "foresee": _reads(ForeseeArgs, "compute the effect of a decision on the match"),
    "lost_time": _reads(NoArgs, "compute the time to add for interruptions (补时)"),
    "offers": _reads(RoleArgs, "list a role's commands, and whether each is possible now"),
    # Commands of the players through the table's display, or of a referee for them.
    "seat": _match(SeatArgs, "record that a player took a seat (就位)", "none", roles=_AT_TABLE),
    "cut": _machine(
        CutArgs,
        "cut the set (切牌)",
        frozenset({MachinePhase.COMMITTED}),
        roles=_AT_TABLE,
        bound_to="machine",
    ),
    "confirm": _match(
        ConfirmArgs, "press a green button (确认), or confirm for both sides", roles=_AT_TABLE
    ),
    "out": _match(
        OneSeatArgs, "report that a player is out; a referee's report is final", roles=_AT_TABLE
    ),
    "call": _match(CallArgs, "press a seat's red button (召请裁判)", "none", roles=_AT_TABLE),
    "claim_count": _match(OneSeatArgs, "claim a wrong number of cards (张数不符)", roles=_AT_TABLE),
    "answer": _match(
        AnswerArgs, "Big Two: a player opens the hand or doubles, or does not", roles=_AT_TABLE
    ),
    "choose": _match(ChooseArgs, "as player UP, take one of two equal tributes", roles=_AT_TABLE),
    # Commands of a referee: the match and its start.
    "set_match": _machine(
        SetMatchArgs, "set up a match, so that its players can take their seats", _MOTIONLESS
    ),
    "start_match": _match(NoArgs, "start the match (开赛)", "none", roles=_CHIEF),
    "start_deal": _machine(
        StartDealArgs, "start the next deal; a deal without a cut needs a reason", _STARTABLE
    ),
    "release": _machine(
        NoArgs,
        "release the hands to the players (放行)",
        frozenset({MachinePhase.HELD}),
        bound_to="machine",
    ),
    "hold": _match(HoldArgs, "pause the table (暂停), or the area's clock", "none"),
    "resume": _match(ResumeArgs, "resume the table (继续), or the area's clock", "none"),
    "attend": _machine(AttendArgs, "report that a referee came to the table; ends a call (到台)"),
    # Counts and sets.
    "recount": _match(RecountArgs, "enter the counts of all hands after a claim (清点)"),
    "replace_set": _machine(
        ReplaceSetArgs, "report that another set is in the hopper (换牌)", _MOTIONLESS
    ),
    "clear_set": _machine(ClearSetArgs, "report that a barred set is complete and usable"),
    # A deal at the table.
    "tribute": _match(TributeArgs, "check whether a tribute card is right; by hand: enter it"),
    "return": _match(ReturnArgs, "check whether a return card is right; by hand: enter it"),
    "anti": _match(AntiArgs, "by hand: enter whether anti-tribute applies"),
    "swap_returns": _match(NoArgs, "exchange the return cards of the two losers"),
    "withdraw_out": _match(OneSeatArgs, "cancel the report that a player is out"),
    "result": _match(ResultArgs, "enter the finishing order (录入名次)"),
    "left": _match(CardsLeftArgs, "Big Two: enter the number of cards left in each hand"),
    "name_leader": _match(OneSeatArgs, "name the next leader after a forfeited deal"),
    "stop_deal": _match(ReasonArgs, "stop a deal because the time is up"),
    # Clocks.
    "call_clock": _match(OneSeatArgs, "start a player's clock (读秒)"),
    "warn": _match(OneSeatArgs, "record that a slow player was warned; the next limit begins"),
    "add_time": _match(AddTimeArgs, "give the table more time (补时)", "none"),
    # Rulings. A referee can give a command for a decision of the chief only if it is marked
    # as a verbal decision of the chief.
    "propose": _match(ProposeArgs, "propose a ruling on a charge", "none"),
    "approve": _match(ApproveArgs, "put a ruling into force (同意/改判)", "none"),
    "reject": _match(RejectArgs, "reject or overturn a ruling (驳回)", "none"),
    "extra_deal": _match(VerbalReasonArgs, "order an extra deal (加打)", "none"),
    "adjust": _match(AdjustArgs, "correct a result (更正成绩)", "none"),
    "redeal": _match(VerbalReasonArgs, "order that released hands are dealt again"),
    # A deal by hand, a transfer to another table, and the score sheet.
    "dealt_by_hand": _match(ReasonArgs, "order a deal by hand (人工发牌)"),
    "shuffled": _match(OneSeatArgs, "by hand: record the seat that shuffled"),
    "cut_by_hand": _match(CutByHandArgs, "by hand: record the seat that cut, and how many cards"),
    "turned_up": _match(TurnedUpArgs, "by hand: record the turned-up card (翻牌)"),
    "hands_dealt": _match(HandsDealtArgs, "by hand: report that four complete hands are dealt"),
    "transfer": _match(TransferArgs, "transfer the match to another table (转台)", "none"),
    "take_over": _machine(TakeOverArgs, "accept a match from another table (接台)", _MOTIONLESS),
    "sign": _match(SignArgs, "sign the score sheet (签名)", "none"),
    # The machine's faults.
    "acknowledge": _machine(AcknowledgeArgs, "acknowledge a fault that a person has seen (已知悉)"),
    "clear_jam": _machine(NoArgs, "report that the jammed card was removed (卡牌已清)"),
    # Commands of the chief only.
    "confirm_verbal": _match(
        ConfirmVerbalArgs, "confirm a verbal decision in writing", "none", roles=_CHIEF
    ),
    "forfeit": _match(
        ForfeitArgs, "declare that a side forfeits the match (弃权判负)", "none", roles=_CHIEF
    ),
    "void": _machine(
        ReasonArgs,
        "end an attempt before its hands are released",
        _VOIDABLE,
        roles=_CHIEF,
        bound_to="machine",
    ),
    "open_hand": _match(OpenHandArgs, "look at a hand (开验手牌)", roles=_CHIEF),
    # Commands of a technician, which never concern a hand or a match.
    "selftest": _machine(NoArgs, "test motors, sensors and camera", _IDLE, roles=_TECHNICIAN),
    "configure": _machine(ConfigureArgs, "change settings of a board", _IDLE, roles=_TECHNICIAN),
    "calibrate": _machine(CalibrateArgs, "calibrate a board", _IDLE, roles=_TECHNICIAN),
}
"""All commands by name."""

PANEL_KEY: Final = "panel"
"""The name in place of the signer's key, in a command from a button of the table."""

COMMANDS_WITH_PRIVATE_ARGS: Final = frozenset({"answer", "tribute", "return", "take_over"})
"""Commands whose arguments and signature are in a private entry, `command_kept`.

A referee asks about cards that only they have seen. Big Two's choices are published only when all
players have chosen. The signature is private too, because a signature over one of a few possible
cards would reveal the card. A part of a match from another table is too long for the feed.
"""


def role_or_phase_refusal(cmd: str, role: Role, phase: MachinePhase) -> Failure | None:
    """Return why `role` cannot give the command `cmd` in `phase`, or None if `role` can.

    If the command does not exist, this is the reason."""
    order = COMMANDS.get(cmd)
    if order is None:
        return Failure(
            code="UNKNOWN_COMMAND",
            message=f"there is no command {cmd}",
            action=f"use one of: {', '.join(sorted(COMMANDS))}",
            message_zh=f"没有{cmd}这个命令",
            action_zh=f"可用的命令：{', '.join(sorted(COMMANDS))}",
        )
    what = quoted_words([cmd], COMMAND_WORDS)
    if role not in order.roles:
        roles = _in_declared_order(Role, order.roles)
        who, those = roles_with_article([role]), roles_with_article(roles)
        return Failure(
            code="WRONG_ROLE",
            message=f"{what.en} is not for {who.en}",
            action=f"ask {' or '.join(roles_with_article([one]).en for one in roles)}",
            message_zh=f"{who.zh}无权执行{what.zh}",
            action_zh=f"请由以下角色执行：{those.zh}",
        )
    if phase not in order.phases:
        phases = _in_declared_order(MachinePhase, order.phases)
        now, then = (
            quoted_words([phase], MACHINE_PHASE_WORDS),
            quoted_words(phases, MACHINE_PHASE_WORDS),
        )
        return Failure(
            code="WRONG_PHASE",
            message=f"{what.en} is not possible while {phase_clauses([phase])}",
            action=f"possible while {phase_clauses(phases)}",
            message_zh=f"发牌机处于{now.zh}，不能执行{what.zh}",
            action_zh=f"发牌机处于以下阶段时可执行：{then.zh}",
        )
    return None


def parse_args(cmd: str, args: Mapping[str, Any]) -> Args:
    """Return the arguments `args`, converted to the argument type of the command `cmd`.

    Raises BadArgs if the arguments do not fit, and LookupError for an unknown command.
    """
    try:
        return convert_value(dict(args), COMMANDS[cmd].args)
    except RecursionError:
        deep = Words("arguments nested too deeply", "参数嵌套过深")
        raise BadArgs(deep, same_words(usage_line(cmd))) from None


def convert_value(raw: Any, value_type: type[Form]) -> Form:
    """Return `raw`, a value that was decoded from JSON, as a value of the type `value_type`.

    Raises BadArgs if the value does not fit this type.
    """
    try:
        return msgspec.convert(raw, value_type)
    except msgspec.ValidationError as mistake:
        wrong = explain_error(mistake, raw, inspect.type_info(value_type))
        raise BadArgs(wrong.found, wrong.expected) from None


def usage_line(cmd: str) -> str:
    """Return one line: the command and the names of its arguments, optional ones in brackets."""
    fields = msgspec.structs.fields(COMMANDS[cmd].args)
    due = [field.name for field in fields if field.required]
    return " ".join([cmd, *due, *(f"[{field.name}]" for field in fields if not field.required)])


def list_names(
    kind: type[Role] | type[MachinePhase], chosen: frozenset[Role] | frozenset[MachinePhase]
) -> str:
    """Return the names of the `chosen` roles or phases in one line, in the order of enum `kind`."""
    return ", ".join(_in_declared_order(kind, chosen))


def _in_declared_order(
    kind: type[Role] | type[MachinePhase], chosen: frozenset[Role] | frozenset[MachinePhase]
) -> list[str]:
    return [each.value for each in kind if each in chosen]


MAX_COMMAND_BYTES: Final = 16_384
"""The largest size of a command in bytes.

A connection that sends a message larger than `MAX_MESSAGE_BYTES` is closed.
"""
MAX_MESSAGE_BYTES: Final = 65_536


def refusal_reply(command_id: str, fault_name: str, **evidence: object) -> CommandReply:
    """Return the reply that refuses a command, with the texts of the fault `fault_name`."""
    row = fault(fault_name)
    failure = Failure(
        code=fault_name,
        message=row.cause(evidence),
        action=row.action(evidence),
        message_zh=row.cause(evidence, "zh"),
        action_zh=row.action(evidence, "zh"),
    )
    return CommandReply(id=command_id, ok=False, error=failure)

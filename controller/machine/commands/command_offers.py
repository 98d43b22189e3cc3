"""The offers: which commands a role may give now, and why not the others.

Samples of each command are tried. One accepted sample is enough. Samples decide nothing. If a
command names something of the table (a ruling, a set, a fault, a signer), the samples name what
exists. If it contains a card, counts or an order of seats, any correct form is used, and
`FORM_REFUSALS` lists the refusals that concern the value and not the moment.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from operator import is_not
from typing import Any, Final

import msgspec

from controller.commands.argument_values import Args, VerbalArgs
from controller.commands.registry import COMMANDS, parse_args
from controller.machine.commands.command_processor import CommandProcessor
from controller.machine.commands.command_request import CommandSigner, RequestedCommand, failure
from controller.machine.table_record import TableRecord
from controller.match.match_state import AnyMatch, GuandanMatch
from controller.match.sheet_rows import last_deal_row
from controller.match.sheet_writing import sheet_signers
from controller.messages import Failure, Offer, Role, Seat
from controller.rules.profile import Profile
from controller.seats import SEATS

FORM_REFUSALS: Final[Mapping[str, frozenset[str]]] = {
    "add_time": frozenset({"MUCH_TIME"}),
    "adjust": frozenset({"NO_FINISH_ORDER"}),
    "approve": frozenset({"NOT_BEGUN", "NO_FINISH_ORDER"}),
    "hands_dealt": frozenset({"TURNED_TO_MISSING", "TURN_AGAIN"}),
    "left": frozenset({"NO_FINISH_ORDER"}),
    "result": frozenset({"NO_FINISH_ORDER"}),
    "tribute": frozenset({"VALUES_MISSING"}),
}
"""Refusals that depend on the value: another card, order or penalty might be accepted."""

SEAT_REFUSALS: Final = frozenset({"NOT_HIS_DUTY", "OTHER_SIDE", "SEAT_TAKEN", "TWICE"})
"""Refusals that depend on the seat. If another seat has another reason, that reason is shown."""

_REASON: Final = "why it has to be"
_DIGEST: Final = "0" * 64
_MATCH: Final = {
    "match_id": "M1",
    "event": "Cup",
    "round": 1,
    "match_no": 1,
    "table_no": "1",
    "stage": "swiss",
    "pairs": {
        "NS": {"id": "P1", "name": "Plum", "players": {}},
        "EW": {"id": "P2", "name": "Pine", "players": {}},
    },
}
_DOCUMENT: Final = {"digest": _DIGEST, "verify": _DIGEST, "sig": "0" * 128} | {
    "part": 1,
    "parts": 1,
    "text": "eNq",
}


class SampleContext(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a table (for example its sets and faults) that command samples use.

    `cut` is a legal cut, and `cards` are the cards of a set. The context also contains the present
    faults by name and board, and the calls for a referee.
    """

    match: AnyMatch | None
    sets: tuple[str, ...]
    cards: int
    cut: int
    raised_faults: tuple[tuple[str, str], ...]
    match_calls: tuple[str, ...]


class CommandSample(msgspec.Struct, frozen=True):
    """Sample arguments, with which the table tests whether a command is possible now."""

    args: Args
    seat: Seat | None = None


def make_samples(cmd: str, known: SampleContext) -> Iterator[CommandSample]:
    """Yield one or more samples of the command `cmd`, with arguments that fit this table."""
    making = _SAMPLERS.get(cmd)
    return iter(_fixed_samples(cmd)) if making is None else making(cmd, known)


def verbal_sample(sample: CommandSample) -> CommandSample | None:
    """Return the sample as a verbal decision, or None if the command cannot be such a decision."""
    if not isinstance(sample.args, VerbalArgs):
        return None
    return CommandSample(msgspec.structs.replace(sample.args, verbal=True, by="chief"), sample.seat)


def invented_values(sample: CommandSample, known: SampleContext) -> Iterator[str]:
    """Yield as text the values in `sample` that name no set, match or ruling of this table."""
    match, real = known.match, set(known.sets)
    if match is not None:
        real |= {match.meeting.match_id, *(ruling.id for ruling in match.rulings)}
    for said in _leaves(msgspec.to_builtins(sample.args)):
        if said not in real:
            yield said


def _leaves(said: object) -> Iterator[str]:
    if isinstance(said, dict):
        yield " ".join(f"{name} {value}" for name, value in said.items())
    if isinstance(said, dict | list | tuple):
        for one in said.values() if isinstance(said, dict) else said:
            yield from _leaves(one)
    elif said is not None:
        yield str(said)


def _new_sample(cmd: str, args: Mapping[str, Any], seat: Seat | None = None) -> CommandSample:
    return CommandSample(parse_args(cmd, args), seat)


_SEAT_COMMANDS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{name: {} for name in ("seat", "out", "call", "claim_count", "choose", "withdraw_out")},
    **{name: {} for name in ("name_leader", "call_clock", "warn", "shuffled")},
    "answer": {"yes": True},
    "tribute": {"card": "SA", "other": "SA"},
    "return": {"card": "S5"},
    "open_hand": {"reason": _REASON},
}
"""Commands that name a seat, with their other arguments."""

_FIXED_ARGS: Final[Mapping[str, tuple[Mapping[str, Any], ...]]] = {
    "set_match": (_MATCH,),
    "start_deal": ({"uncut": True, "reason": _REASON},),
    **dict.fromkeys(("hold", "stop_deal", "extra_deal", "redeal"), ({"reason": _REASON},)),
    **dict.fromkeys(("dealt_by_hand", "void"), ({"reason": _REASON},)),
    "anti": ({"stands": False}, {"stands": True}),
    "result": ({"order": ["N", "W", "S"]},),
    "left": ({"left": {"N": 0, "W": 1, "S": 1, "E": 1}},),
    "add_time": ({"seconds": 0},),
    "propose": ({"offence": "other", "side": "NS"},),
    "turned_up": ({"card": "S5"},),
    "hands_dealt": ({"turned_to": "N", "turned_up": "S5"},),
    "transfer": ({"table": "another table"},),
    "take_over": (_DOCUMENT,),
    "forfeit": ({"side": "NS", "reason": _REASON}, {"side": "EW", "reason": _REASON}),
    "configure": ({"board": "dealer", "settings": {}},),
    "calibrate": ({"board": "dealer"},),
}
"""Arguments of the other commands, if they do not depend on the table."""


@cache
def _fixed_samples(cmd: str) -> tuple[CommandSample, ...]:
    """Return the samples of `cmd`, a command with the same samples at every table."""
    if cmd not in _SEAT_COMMANDS:
        return tuple(_new_sample(cmd, said) for said in _FIXED_ARGS.get(cmd, ({},)))
    name = "payer" if cmd == "choose" else "seat"
    return tuple(_new_sample(cmd, {name: seat, **_SEAT_COMMANDS[cmd]}, seat) for seat in SEATS)


@cache
def _optional_seat_samples(
    cmd: str, other_args: tuple[tuple[str, int], ...]
) -> tuple[CommandSample, ...]:
    """Return one sample for each seat, with `other_args`, and one sample that names no seat."""
    named = dict(other_args)
    without = {} if cmd == "cut_by_hand" else named  # A set that stays uncut has no number.
    return (
        *(_new_sample(cmd, {"seat": at, **named}, at) for at in SEATS),
        _new_sample(cmd, without),
    )


def _sample_seats(cmd: str, known: SampleContext) -> Iterator[CommandSample]:
    said = (("n", known.cut),) if cmd in ("cut", "cut_by_hand") else ()
    return iter(_optional_seat_samples(cmd, said))


def _sample_rulings(cmd: str, known: SampleContext) -> Iterator[CommandSample]:
    """Yield one sample for each ruling of the match, newest first.

    Rulings that still need a decision are among the newest. Without rulings, yield one for R1.
    """
    rulings = () if known.match is None else known.match.rulings
    for name in [ruling.id for ruling in reversed(rulings)] or ["R1"]:
        yield _new_sample(cmd, {"ruling": name})


def _sample_verbal(cmd: str, known: SampleContext) -> Iterator[CommandSample]:
    """Yield one sample for each ruling, and one for each correction that was decided verbally."""
    yield from _sample_rulings(cmd, known)
    if isinstance(known.match, GuandanMatch):
        for row in reversed(known.match.spoken):
            yield _new_sample(cmd, {"correction": row})


def _sample_last_deal(cmd: str, known: SampleContext) -> Iterator[CommandSample]:
    """Yield one sample that names the last deal with a result, or deal 1 without results.

    A person who may correct any deal may correct this one.
    """
    last = last_deal_row(known.match.sheet) if isinstance(known.match, GuandanMatch) else None
    said = {"order": ["N", "W", "S"], "reason": _REASON}
    yield _new_sample(cmd, {"deal": 1 if last is None else last.deal, **said})


def _sample_faults(cmd: str, known: SampleContext) -> Iterator[CommandSample]:
    """Yield one sample for each present fault and each call, or for JAM if there is neither."""
    found: Iterable[tuple[str, str]] = (
        *known.raised_faults,
        *((why.upper(), "") for why in known.match_calls),
    )
    for name, board in found or (("JAM", ""),):
        yield _new_sample(cmd, {"code": name, **({"board": board} if board else {})})


_SAMPLERS: Final[Mapping[str, Callable[[str, SampleContext], Iterator[CommandSample]]]] = {
    "attend": _sample_seats,
    "confirm": _sample_seats,
    "cut": _sample_seats,
    "cut_by_hand": _sample_seats,
    "recount": lambda cmd, known: iter(
        [_new_sample(cmd, {"counts": dict.fromkeys(SEATS, known.cards // len(SEATS))})]
    ),
    "clear_set": lambda cmd, known: (
        _new_sample(cmd, {"set": name, "cards": known.cards}) for name in known.sets or ("A1",)
    ),
    "replace_set": lambda cmd, known: (
        _new_sample(cmd, {"set": name, "back": "A"}) for name in (*known.sets, "another set")
    ),
    "approve": _sample_rulings,
    "reject": _sample_rulings,
    "confirm_verbal": _sample_verbal,
    "adjust": _sample_last_deal,
    "sign": lambda cmd, known: (
        _new_sample(cmd, {"signer": signer, "person": "Li Na"})
        for signer in (["referee"] if known.match is None else sheet_signers(known.match))
    ),
    "acknowledge": _sample_faults,
}

SIGNED_COMMANDS: Final = tuple(cmd for cmd, order in COMMANDS.items() if order.signed)
"""Commands that change something. All other commands are always possible."""


_NEEDS_CHIEF: Final = "NEEDS_CHIEF"


class CommandOffers:
    """The maker of the answers to `offers`: which commands a role may give now, or why not.

    `outside_state` returns the values outside the journal on which the answers depend. An answer is
    stored until the journal, the match or these values change.
    """

    def __init__(
        self,
        record: TableRecord,
        desk: CommandProcessor,
        profile: Profile,
        sets: tuple[str, ...],
        outside_state: Callable[[], Hashable],
    ) -> None:
        self._record, self._desk, self._profile = record, desk, profile
        self._sets, self._outside_state = sets, outside_state
        self._last_inputs: tuple[tuple[Any, ...], tuple[Any, ...]] = (), ()
        self._answers: dict[Role, dict[str, Any]] = {}

    def answer_for(self, role: Role) -> dict[str, Any]:
        """Return the answer to `offers`: one Offer for each command that `role` may sign."""
        record = self._record
        large = (record.match_written, record.state)  # These are compared by identity.
        small = (record.raised_faults, self._desk.awaited_steps, self._outside_state())
        known_large, known_small = self._last_inputs
        if small != known_small or any(map(is_not, large, known_large)):
            self._last_inputs = large, small
            self._answers.clear()
        if role not in self._answers:
            known = self._context()
            named = [cmd for cmd in SIGNED_COMMANDS if role in COMMANDS[cmd].roles]
            offers = [self._offer(cmd, role, known) for cmd in named]
            self._answers[role] = {"offers": msgspec.to_builtins(offers)}
        return self._answers[role]

    def _context(self) -> SampleContext:
        play, cuts = self._record.match_written, self._profile.cuts()
        return SampleContext(
            match=play.match,
            sets=tuple(sorted({*self._sets, *self._record.state.sets})),
            cards=self._profile.deck.cards,
            cut=cuts[len(cuts) // 2],
            raised_faults=self._record.raised_faults,
            match_calls=tuple(call.reason for call in play.match_calls),
        )

    def _offer(self, cmd: str, role: Role, known: SampleContext) -> Offer:
        seats: list[Seat] = []
        named, without = False, None
        words, why = False, None
        for sample in make_samples(cmd, known):
            named = named or sample.seat is not None
            if sample.seat is None and without:
                continue  # One accepted sample is enough.
            refused, word = self._try_sample(cmd, role, sample)
            if sample.seat is None:
                without = refused is None
            elif refused is None:
                seats.append(sample.seat)
            words = words or (refused is None and word)
            found = refused and refused.found
            if refused and found and found in invented_values(sample, known):
                refused = _without_evidence(refused)  # A value of the table itself stays.
            why = _combined_refusal(why, refused)
        taken = bool(seats) or bool(without)
        return Offer(
            cmd=cmd,
            seats=seats if named else None,
            seatless=without if named else None,
            by_word=words,
            refused=None if taken else why,
        )

    def _try_sample(
        self, cmd: str, role: Role, sample: CommandSample
    ) -> tuple[Failure | None, bool]:
        """Return the refusal or None, and whether the sample was tried as a verbal decision."""
        refused = self._sample_refusal(cmd, role, sample)
        if refused is None or refused.code != _NEEDS_CHIEF:
            return refused, False
        word = verbal_sample(sample)
        return (refused, False) if word is None else (self._sample_refusal(cmd, role, word), True)

    def _sample_refusal(self, cmd: str, role: Role, sample: CommandSample) -> Failure | None:
        refused = self._desk.refusal_of(
            RequestedCommand(cmd, sample.args, CommandSigner(role.value, role))
        )
        if refused is not None and refused.code in FORM_REFUSALS.get(cmd, ()):
            return None
        return refused


def _combined_refusal(why: Failure | None, refused: Failure | None) -> Failure | None:
    """Return one refusal for the earlier and the new samples, or None if no sample was refused.

    `why` is the refusal for the earlier samples, and `refused` is the refusal of the new sample.
    """
    if why is None or refused is None:
        return why or refused
    if why.code == refused.code and why != refused:
        return _without_evidence(why)  # Each refusal names the value of its own sample.
    return refused if why.code in SEAT_REFUSALS else why


def _without_evidence(why: Failure) -> Failure:
    """Return a copy of the refusal without the values that its text names."""
    bare = {name: getattr(failure(why.code), name) for name in ("message", "message_zh")}
    return msgspec.structs.replace(why, **bare, found=None)

"""The routes of the ruling desk, a page for referees: penalties, their effects, legal plays.

All these routes only read. Commands are sent by routes/table_routes.py.
"""

from functools import cache
from typing import Any, Final, Literal

import msgspec

from controller.commands.ruling_arguments import ChargeArgs, ForeseeArgs
from controller.console.request_error import RequestError
from controller.console.routing import REFEREES, ConsoleRequest, page, route
from controller.console.view import fill_struct
from controller.console.view.combination_questions import (
    CardsDue,
    CombinationKindView,
    CombinationQuestion,
    cards_due,
    judge_question,
    list_combination_kinds,
)
from controller.console.view.penalty_counters import PairCounts, count_penalties
from controller.console.view.penalty_ladder import (
    ChargeSuggestion,
    PenaltyLadder,
    build_ladder,
    suggest_charges,
)
from controller.console.view.ruling_cases import (
    MATCH_START,
    PenaltyChoice,
    RulingRecord,
    RulingView,
    build_penalty_choice,
    build_ruling_views,
    lost_time_with_reasons,
    read_rulings,
)
from controller.faults import Language
from controller.messages import PublicState
from controller.rules.combos.card_tokens import QuestionError
from controller.rules.combos.play_ruling import ContainedKinds, PlayRuling
from controller.rules.penalties.proposals import PenaltyProposal
from controller.rules.profile import GuandanProfile, Profile
from controller.rules.profile_files import load_profile, profile_names


class RulebookView(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a rulebook that the ruling desk shows.

    `ladder` is None in a rulebook without penalties (Big Two). `found_redeals` is True if the deal
    is repeated even when a found card makes the counts right. `play_s` is the time for a play in
    seconds, or 0 without a clock.
    """

    name: str
    title_en: str
    title_zh: str
    game: Literal["guandan", "bigtwo"]
    hand: int
    packs: int
    jokers: bool
    play_s: int
    found_redeals: bool
    kinds: list[CombinationKindView]
    ladder: PenaltyLadder | None


class RulingDeskView(msgspec.Struct, frozen=True, kw_only=True):
    """The data on a table's ruling desk that are not in the table's public state.

    `whole` is True if the first entries of the match are known, so that the earlier penalties of
    its pairs are counted.
    """

    cases: list[RulingView] = []
    counters: list[PairCounts] = []
    suggestions: tuple[ChargeSuggestion, ...] = ()
    counts: tuple[CardsDue, ...] = ()
    whole: bool = False


class TableRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """A table's refusal of a query, with the reason in English and in Chinese."""

    refused: dict[Language, str]


async def _get_rulebook(request: ConsoleRequest) -> RulebookView:
    return _load_rulebook(request.path_params["profile"])


async def _judge_question(request: ConsoleRequest) -> PlayRuling | ContainedKinds | dict[str, str]:
    """Return the answer to a question about a play, or the reason why the question is invalid."""
    question = await request.read_json(CombinationQuestion)
    try:
        return judge_question(_load_profile(question.profile), question)
    except QuestionError as mistake:
        return {"type": "nonsense", "en": mistake.words.en, "zh": mistake.words.zh}


async def _get_desk(request: ConsoleRequest) -> RulingDeskView:
    """Return the data of the ruling desk for the match at a table."""
    state = _table_state(request)
    if (match := state.match).match is None:
        return RulingDeskView()
    profile = _load_profile(match.profile)
    counts = cards_due(match, profile.hand)
    if not isinstance(profile, GuandanProfile):
        return RulingDeskView(counts=counts)
    table, archive = request.path_params["id"], request.console.archive

    def read_record() -> RulingRecord:
        begun = archive.last_number_of(table, {MATCH_START})
        return read_rulings(archive.events(table, since=max(0, begun - 1)) if begun else ())

    told = await request.console.read_after_flush(read_record)
    return RulingDeskView(
        cases=build_ruling_views(profile, told, match.rulings, match.deal or 0),
        counters=count_penalties(match, told),
        suggestions=suggest_charges(state),
        counts=counts,
        whole=told.earlier_penalties is not None,
    )


async def _list_decisions(request: ConsoleRequest) -> dict[str, list[PenaltyChoice]] | TableRefusal:
    """Return the decisions that the rulebook allows for an offence, computed by the table.

    The table counts earlier penalties. The decision from the penalty ladder itself comes first.
    """
    said = dict(request.http_request.query_params)
    try:
        charge = msgspec.convert(said, ChargeArgs, strict=False)
    except ValueError as wrong:
        raise RequestError(400, f"invalid charge: {wrong}", f"指控有误：{wrong}") from None
    args = {name: value for name, value in msgspec.to_builtins(charge).items() if name in said}
    result = await _query_table(request, "rulings", args)
    if isinstance(result, TableRefusal):
        return result
    deal = _table_state(request).match.deal or 0
    earlier = charge.deal if charge.deal is not None and charge.deal < deal else None
    proposals = msgspec.convert(result["proposals"], list[PenaltyProposal])
    return {"choices": [build_penalty_choice(one, earlier) for one in proposals]}


async def _foresee(request: ConsoleRequest) -> dict[str, Any] | TableRefusal:
    """Return the effects of a possible decision on levels and deals, computed by the table."""
    args = msgspec.to_builtins(await request.read_json(ForeseeArgs))
    return await _query_table(request, "foresee", args)


async def _lost_time(request: ConsoleRequest) -> dict[str, Any] | TableRefusal:
    told = await _query_table(request, "lost_time", {})
    return told if isinstance(told, TableRefusal) else lost_time_with_reasons(told)


async def _query_table(
    request: ConsoleRequest, cmd: str, args: dict[str, Any]
) -> dict[str, Any] | TableRefusal:
    """Return a table's answer to a query, or the reason why the table refuses the query.

    Raises RequestError if the table is unknown or silent.
    """
    table = request.path_params["id"]
    _table_state(request)
    reply = await request.console.dispatcher.query(table, cmd, args, request.person.role)
    if (error := reply.error) is not None:
        zh = "；".join(filter(None, (error.message_zh, error.action_zh)))
        en = ": ".join(filter(None, (error.message, error.action)))
        return TableRefusal(refused={"en": en, "zh": zh or en})
    if reply.result is None:
        raise RequestError(502, "the table's answer has no result", "本台的回答无法识别")
    return reply.result


def _table_state(request: ConsoleRequest) -> PublicState:
    """Return the last state of the requested table. Raises RequestError if there is none."""
    try:
        state = request.console.tables.snapshot(request.path_params["id"]).state
    except KeyError:
        raise RequestError(404, "there is no such table", "没有这张台") from None
    if state is None:
        raise RequestError(409, "no state of this table was received yet", "尚未收到该台数据")
    return state


@cache
def _load_profile(name: str) -> Profile:
    if name not in profile_names():
        raise RequestError(404, f"no rulebook is called {name!r}", f"没有名为{name}的规则")
    return load_profile(name)


@cache
def _load_rulebook(name: str) -> RulebookView:
    profile = _load_profile(name)
    guandan = profile if isinstance(profile, GuandanProfile) else None
    return fill_struct(
        RulebookView,
        profile,
        packs=profile.deck.packs,
        jokers=profile.deck.jokers,
        play_s=guandan.clocks.play_s if guandan else 0,
        found_redeals=guandan is not None and guandan.counting.found_card == "redeal",
        kinds=list_combination_kinds(profile),
        ladder=build_ladder(guandan) if guandan else None,
    )


ROUTES: Final = (
    page("/table/{id}/rulings", "rulings.html"),
    route("/api/rulebooks/{profile}", _get_rulebook),
    route("/api/judge", _judge_question, methods=("POST",), rate_limited=False),
    route("/api/tables/{id}/desk", _get_desk),
    route("/api/tables/{id}/rulings", _list_decisions, roles=REFEREES),
    route(
        "/api/tables/{id}/foresee", _foresee, methods=("POST",), roles=REFEREES, rate_limited=False
    ),
    route("/api/tables/{id}/lost_time", _lost_time, roles=REFEREES),
)

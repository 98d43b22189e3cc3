"""A rulebook's offences and penalties on a page, and possible charges after a clock ran out."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, get_args

import msgspec

from controller.console.view import fill_struct
from controller.messages import PublicState, Seat, Side
from controller.rules.penalties.charges import Charge, LapseReason, lapse_article, lapse_words
from controller.rules.penalties.offences import (
    Offence,
    catalogue_words,
    offence_catalogue,
    remedy_words,
)
from controller.rules.penalties.penalty_ladder import (
    HARM_ARTICLES,
    LADDER_RUNGS,
    LegalPenalty,
    legal_penalties,
)
from controller.rules.penalties.penalty_record import Penalty, PenaltyEntry
from controller.rules.penalties.proposals import CHIEF_PENALTIES, consequence_words, consequences_of
from controller.rules.profile import GuandanProfile
from controller.words import Words

GroupId = Literal[
    "turn", "report", "play", "exchange", "time", "signal", "cards", "conduct", "drawing"
]

OFFENCE_GROUPS: Final[dict[GroupId, tuple[Words, tuple[str, ...]]]] = {
    "turn": (
        Words("Out of turn", "越序"),
        ("play_out_of_turn", "declare_out_of_turn", "out_of_turn_type_led"),
    ),
    "report": (Words("Reporting cards left", "报牌"), ("no_report", "asking_count")),
    "play": (
        Words("Playing cards", "出牌"),
        (
            "wrong_play_leader",
            "wrong_play_follower",
            "wrong_play_form",
            "play_changed",
            "exposed_type_led",
        ),
    ),
    "exchange": (
        Words("Tribute and return", "贡牌还牌"),
        (
            "wrong_tribute",
            "wrong_return",
            "delay_tribute",
            "delay_return",
            "wrong_tribute_in_play",
            "wrong_return_in_play",
            "shown_by_non_payer",
        ),
    ),
    "time": (
        Words("Time and attendance", "时间与到场"),
        ("delay_play", "delay_other", "leaving_seat", "late", "default"),
    ),
    "signal": (Words("Illegal signals", "非法信号"), ("illegal_signal",)),
    "cards": (Words("Cards that should not be", "牌张"), ("card_count", "hidden_cards")),
    "conduct": (
        Words("Conduct", "言行"),
        ("disturbance", "disobedience", "grave_foul", "collusion", "other"),
    ),
    "drawing": (Words("Drawing by hand", "人工抓牌"), ("draw_unseen", "draw_seen", "draw_in_hand")),
}
"""Every offence once. The most frequent group comes first. No rule text sets this order."""

_COMMON: Final = ("play_out_of_turn", "declare_out_of_turn", "no_report", "wrong_play_follower")
LIKELY_OFFENCES: Final[dict[str, tuple[str, ...]]] = {
    "setup": ("late", "default", "disturbance"),
    "count_check": ("card_count", "delay_other", "disturbance", "illegal_signal"),
    "tribute": ("wrong_tribute", "delay_tribute", "shown_by_non_payer", "illegal_signal"),
    "return": ("wrong_return", "delay_return", "illegal_signal"),
    "play": (*_COMMON, "wrong_play_leader", "asking_count", "delay_play", "illegal_signal"),
    "result": ("no_report", "wrong_play_form", "illegal_signal", "disturbance"),
}
"""The likely offences in each phase of a match. No rule text lists them."""

BEFORE_LEAD: Final = frozenset({"wrong_tribute", "wrong_return"})
AFTER_LEAD: Final = frozenset({"wrong_tribute_in_play", "wrong_return_in_play"})
CLOCK_SUGGESTIONS: Final[dict[str, tuple[str, int | None]]] = {
    "play_warning": ("delay_play", 1),
    "play_violation": ("delay_play", 2),
    "tribute_warning": ("delay_tribute", 1),
    "tribute_violation": ("delay_tribute", 2),
    "return_warning": ("delay_return", 1),
    "return_violation": ("delay_return", 2),
    "late_regulations": ("late", None),
    "late_default": ("late", None),
}
"""The offence that each clock suggests when it calls a referee, and the number of the overrun."""


class ChargeSuggestion(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An offence that a referee may charge, because a clock of the table ran out."""

    offence: str
    seat: Seat | None
    side: Side | None
    step: int | None
    reason: str
    words_en: str
    words_zh: str


def suggest_charges(state: PublicState) -> tuple[ChargeSuggestion, ...]:
    """Return the offences that a referee may charge, because a clock of the table ran out."""
    found: list[ChargeSuggestion] = []
    for call in state.calls:
        if call.reason not in CLOCK_SUGGESTIONS:
            continue
        offence, step = CLOCK_SUGGESTIONS[call.reason]
        late = [clock.side for clock in state.match.clocks if clock.duty == "late"]
        sides: Sequence[Side | None] = late if late and call.seat is None else [None]
        found += [
            fill_struct(ChargeSuggestion, call, offence=offence, side=side, step=step)
            for side in sides
        ]
    return tuple(found)


class LadderAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One decision that the rulebook allows for an offence.

    `also_*`: its further effects, empty if there are none.

    `article` None, here and in the other parts: the rulebook has no rule, so this is a proposal.
    """

    penalty: Penalty
    en: str
    zh: str
    also_en: str
    also_zh: str
    article: str | None
    chief: bool


class OffenceKindView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One of the ways in which players can commit an offence."""

    id: str
    en: str
    zh: str
    article: str | None


class OffenceView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """An offence. `steps`: the decisions allowed for its first time, its second time, and so on.

    The first decision of each step is that of the ladder itself. `scope_*`: whose earlier offences
    count, and over which period. It is empty if none count. `foul_if_harmed`: it is a foul at once
    if it harmed the other side. `when`: set if the offence is possible only before or only after
    the first lead of a deal.
    """

    id: str
    en: str
    zh: str
    article: str | None
    kinds: tuple[OffenceKindView, ...]
    scope_en: str
    scope_zh: str
    scope_article: str | None
    steps: tuple[tuple[LadderAnswer, ...], ...]
    remedy_en: str
    remedy_zh: str
    foul_if_harmed: bool
    when: Literal["before_lead", "behind_lead"] | None = None


class OffenceGroup(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A group of offences that a referee looks up together."""

    id: GroupId
    en: str
    zh: str
    offences: tuple[OffenceView, ...]


class RungView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A rule by which `times` penalties of one kind count as one heavier penalty."""

    id: str
    below_en: str
    below_zh: str
    above_en: str
    above_zh: str
    times: int
    article: str | None


class NamedItem(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A text for a penalty, for an effect of a foul, or for a reason why a penalty may be lost."""

    id: str
    en: str
    zh: str
    article: str | None = None
    chief: bool = False


class PenaltyLadder(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """All that a referee may look up about a rulebook's penalties.

    `fouls`: the effects of a foul. `lapses`: the reasons for which a penalty may be lost.
    """

    profile: str
    title_en: str
    title_zh: str
    likely: dict[str, tuple[str, ...]]
    groups: tuple[OffenceGroup, ...]
    rungs: tuple[RungView, ...]
    penalties: tuple[NamedItem, ...]
    fouls: tuple[NamedItem, ...]
    lapses: tuple[NamedItem, ...]


def build_ladder(profile: GuandanProfile) -> PenaltyLadder:
    """Return the offences and penalties of a rulebook as the ruling desk shows them."""
    return PenaltyLadder(
        profile=profile.name,
        title_en=profile.title_en,
        title_zh=profile.title_zh,
        likely=LIKELY_OFFENCES,
        groups=tuple(
            fill_struct(
                OffenceGroup,
                title,
                id=name,
                offences=tuple(_offence(profile, offence_catalogue()[one]) for one in offences),
            )
            for name, (title, offences) in OFFENCE_GROUPS.items()
        ),
        rungs=tuple(_rungs(profile)),
        penalties=tuple(
            fill_struct(
                NamedItem, catalogue_words("penalty", name), id=name, chief=name in CHIEF_PENALTIES
            )
            for name in get_args(Penalty)
        ),
        fouls=tuple(_fouls(profile)),
        lapses=tuple(
            fill_struct(
                NamedItem, lapse_words(reason), id=reason, article=lapse_article(profile, reason)
            )
            for reason in get_args(LapseReason)
        ),
    )


def _offence(profile: GuandanProfile, row: Offence) -> OffenceView:
    text = profile.penalties.catalogue
    own = row.ladder(text)
    scope = Words("", "")
    if own.scope != "occasion":
        who, where = catalogue_words("counted", own.counted), catalogue_words("scope", own.scope)
        scope = Words(f"{who.en}, {where.en}", f"{who.zh}{where.zh}")
    steps = tuple(_step(profile, row.id, times) for times in range(len(own.steps)))
    before, behind = row.id in BEFORE_LEAD, row.id in AFTER_LEAD
    return fill_struct(
        OffenceView,
        row,
        article=steps[0][0].article,
        kinds=tuple(
            OffenceKindView(id=kind.id, en=kind.en, zh=kind.zh, article=kind.articles.get(text))
            for kind in row.kinds
        ),
        scope=scope,
        scope_article=row.scope_articles.get(text),
        steps=steps,
        remedy=remedy_words(profile, row.id),
        foul_if_harmed=row.direct_foul and text in HARM_ARTICLES,
        when="before_lead" if before else "behind_lead" if behind else None,
    )


_ANY_INCIDENT: Final[dict[str, Any]] = {
    "seat": None,
    "person": None,
    "pair": "1",
    "side": "NS",
    "event": "",
    "round": 1,
    "match": "",
    "deal": 1,
    "at_ms": 0,
}
"""The fields of a charge without a meaning for the ladder."""


def _step(profile: GuandanProfile, offence: str, times: int) -> tuple[LadderAnswer, ...]:
    """Return the decisions allowed for an offence that a player committed `times` times before.

    No other offence was committed.
    """
    said = _ANY_INCIDENT | {"offence": offence, "seat": "N", "person": "somebody"}
    before = (PenaltyEntry(**said, penalty="none", article=None),) * times
    by_clock = offence in _BY_CLOCK and times > 0
    step = times + 1 if by_clock else None
    charge = Charge(**said, pointed_out_by="clock" if by_clock else "W", step=step)
    return tuple(_answer(profile, one) for one in legal_penalties(profile, before, charge))


_BY_CLOCK: Final = frozenset(name for name, step in CLOCK_SUGGESTIONS.values() if step is not None)


def _answer(profile: GuandanProfile, way: LegalPenalty) -> LadderAnswer:
    also = [*(["dead_hand"] if way.dead_hand else []), *([way.turn_loss] if way.turn_loss else [])]
    said = [catalogue_words("also", name) for name in also]
    if way.penalty != "none" or not said:
        said = [catalogue_words("penalty", way.penalty), *said]
    text, *more = said
    return fill_struct(
        LadderAnswer,
        way,
        text,
        also_en=", ".join(one.en for one in more),
        also_zh="，".join(one.zh for one in more),
        chief=way.needs_chief or way.penalty in CHIEF_PENALTIES,
    )


def _rungs(profile: GuandanProfile) -> Iterator[RungView]:
    for rung in LADDER_RUNGS:
        if times := getattr(profile.penalties, rung.limit):
            yield fill_struct(
                RungView,
                id=rung.limit,
                below=catalogue_words("penalty", rung.below),
                above=catalogue_words("penalty", rung.above),
                times=times,
                article=profile.article(f"penalties.{rung.limit}"),
            )


def _fouls(profile: GuandanProfile) -> Iterator[NamedItem]:
    """Yield the effects of two example fouls by side NS: a usual one, then one for hidden cards."""
    for offence in ("other", "hidden_cards"):
        said = Charge(**_ANY_INCIDENT, offence=offence, pointed_out_by="referee")
        foul = LegalPenalty(penalty="foul", article=None, why=Words("", ""))
        effects, keys = consequences_of(profile, said, foul)
        article = profile.article(keys[0]) if keys else None
        for effect in effects:
            yield fill_struct(NamedItem, consequence_words(effect), id=offence, article=article)

"""In which order a referee looks for an offence, and what a clock suggests that he look at."""

from typing import Final, Literal

import msgspec

from controller.messages import PublicState, Seat, Side
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
    "drawing": (
        Words("Drawing by hand", "人工抓牌"),
        ("draw_unseen", "draw_seen", "draw_in_hand"),
    ),
}
"""Every offence once, the groups by how often a hall has them (the order is provisional)."""

_COMMON: Final = ("play_out_of_turn", "declare_out_of_turn", "no_report", "wrong_play_follower")
LIKELY_OFFENCES: Final[dict[str, tuple[str, ...]]] = {
    "setup": ("late", "default", "disturbance"),
    "count_check": ("card_count", "delay_other", "disturbance", "illegal_signal"),
    "tribute": ("wrong_tribute", "delay_tribute", "shown_by_non_payer", "illegal_signal"),
    "return": ("wrong_return", "delay_return", "illegal_signal"),
    "play": (*_COMMON, "wrong_play_leader", "asking_count", "delay_play", "illegal_signal"),
    "result": ("no_report", "wrong_play_form", "illegal_signal", "disturbance"),
}
"""What is looked for first in which phase of a match (provisional)."""

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
"""What a clock that called a referee suggests: an offence, and which overrun it is."""


class ChargeSuggestion(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A charge that a clock of the table suggests; a referee makes it, or does not."""

    offence: str
    seat: Seat | None
    side: Side | None
    step: int | None
    reason: str
    words_en: str
    words_zh: str


def suggest_charges(state: PublicState) -> tuple[ChargeSuggestion, ...]:
    """Return the charges that the clocks of a table suggest, in the order of their calls."""
    found: list[ChargeSuggestion] = []
    for call in state.calls:
        if call.reason not in CLOCK_SUGGESTIONS:
            continue
        offence, step = CLOCK_SUGGESTIONS[call.reason]
        sides: list[Side | None] = [None]
        if call.seat is None:
            due = [clock.side for clock in state.match.clocks if clock.duty == "late"]
            sides = list(due) or sides
        for side in sides:
            found.append(
                ChargeSuggestion(
                    offence=offence,
                    seat=call.seat,
                    side=side,
                    step=step,
                    reason=call.reason,
                    words_en=call.words_en,
                    words_zh=call.words_zh,
                )
            )
    return tuple(found)

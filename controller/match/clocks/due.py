"""What a clock has to say when a moment comes: a proposal, never a ruling."""

from typing import Literal

import msgspec

from controller.messages import Seat, Side

ClockReportKind = Literal[
    "play_warning",
    "play_violation",
    "tribute_warning",
    "tribute_violation",
    "return_warning",
    "return_violation",
    "opening_over",
    "sort_over",
    "late_regulations",
    "late_default",
    "announce_15",
    "announce_5",
    "announce_1",
    "last_deal",
    "time_up",
]
"""`last_deal`: no new deal begins any more (不再开新副), one that has begun is the last.

`late_regulations`: somebody is late, and what that means the event's regulations say.
"""

ClockOffence = Literal["delay_play", "delay_tribute", "delay_return", "late"]
"""The offences a clock can propose, by their id in offences.toml."""


class ClockReport(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Something fell due at `at_ms`, however late it was asked for.

    `seat` and `side`: whom it concerns; None where that is all four. `offence`: what a
    referee is asked to look at, None for a mere announcement; `step`: which overrun of the same
    clock it is (1, 2, …), as a charge asks. `key`: the profile's rule it rests on, with its
    `article`, None where the value is provisional; no key: a custom of halls that no
    rulebook has.
    """

    kind: ClockReportKind
    at_ms: int
    seat: Seat | None = None
    side: Side | None = None
    offence: ClockOffence | None = None
    step: int | None = None
    key: str | None = None
    article: str | None = None

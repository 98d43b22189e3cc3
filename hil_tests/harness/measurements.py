"""The measurements of scenarios: their units and limits.

A value is compared with its limit on a bench. The bench file may change the limits. On simulated
boards a wall clock measures the computer as much as the machine. There, only counts of cards or
events are compared, and in virtual time the limits of the protocol. Other values are recorded.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

TargetKind = Literal["inproc", "sim", "bench"]
Positive = Annotated[float, Meta(gt=0)]
Whole = Annotated[int, Meta(ge=0)]


class MeasurementLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of all measurements. The section `limits` of a bench file may change them.

    All values are provisional. `cards_per_s` is a minimum, every other limit a maximum. Times are
    in seconds. Times that begin with a signal to a person include the person's reaction time.
    """

    cards_per_s: Positive = 7.0
    start_to_held_s: Positive = 60.0
    release_to_reveal_s: Positive = 180.0
    lid_to_fault_s: Positive = 3.0
    estop_to_fault_s: Positive = 3.0
    cable_to_fault_s: Positive = 5.0
    silence_to_stop_s: Positive = 1.0
    restart_to_held_s: Positive = 60.0
    misreads: Whole = 2
    double_feeds: Whole = 1


class Quantity(msgspec.Struct, frozen=True):
    """A quantity that scenarios measure: its unit, texts, and the targets that apply its limit.

    `is_minimum`: the limit is a minimum, not a maximum. `everywhere`: judged on every target,
    because the quantity is counted, not timed. `protocol`: a limit of the protocol, which is also
    judged in virtual time.
    """

    unit: str
    en: str
    zh: str
    is_minimum: bool = False
    everywhere: bool = False
    protocol: bool = False


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "cards_per_s": Quantity("cards/s", "cards dealt a second", "每秒发牌张数", is_minimum=True),
    "start_to_held_s": Quantity("s", "from the start to hands that are held", "开始至四手牌就绪"),
    "release_to_reveal_s": Quantity(
        "s", "from the release to the set back in the hopper", "放行至牌回仓"
    ),
    "lid_to_fault_s": Quantity("s", "from the opened lid to the fault shown", "开盖至报警"),
    "estop_to_fault_s": Quantity("s", "from the pressed e-stop to the fault shown", "急停至报警"),
    "cable_to_fault_s": Quantity("s", "from the pulled cable to the fault shown", "拔线至报警"),
    "silence_to_stop_s": Quantity(
        "s",
        "from the last word of the host to the last card moved",
        "主机失联至停牌",
        protocol=True,
    ),
    "restart_to_held_s": Quantity(
        "s", "from the daemon's new start to hands that are held", "重启至四手牌就绪"
    ),
    "misreads": Quantity("cards", "cards that needed a second look", "复核牌数", everywhere=True),
    "double_feeds": Quantity("cards", "cards fed two at once", "双张次数", everywhere=True),
}
"""All quantities. Each has a limit of the same name in MeasurementLimits."""


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value with its limit.

    `is_within_limit` is None if the limit is not judged on this target.
    """

    name: str
    value: float
    unit: str
    limit: float
    is_minimum: bool
    is_within_limit: bool | None

    def __str__(self) -> str:
        """Return one line: the value, its limit, and whether the value is within the limit."""
        sign = "≥" if self.is_minimum else "≤"
        word = {None: "not judged here", True: "right", False: "WRONG"}[self.is_within_limit]
        return f"{self.name} {self.value:g} {self.unit} ({sign} {self.limit:g}: {word})"


def make_measurement(
    name: str, value: float, limits: MeasurementLimits, target: TargetKind
) -> Measurement:
    """Return the measured `value` of the quantity `name`, compared with its limit in `limits`.

    Some limits do not apply to `target`. Raises KeyError for an unknown quantity.
    """
    quantity = QUANTITIES[name]
    limit = float(getattr(limits, name))
    virtual = target == "inproc" and quantity.protocol
    counts = target == "bench" or quantity.everywhere or virtual
    within = value >= limit if quantity.is_minimum else value <= limit
    return Measurement(
        name=name,
        value=round(value, 4),
        unit=quantity.unit,
        limit=limit,
        is_minimum=quantity.is_minimum,
        is_within_limit=within if counts else None,
    )

"""The row of one table in the hall's list, and the summary of the table's match."""

from typing import Literal

import msgspec

from controller.console.freshness import Freshness
from controller.console.table_snapshots import TableSnapshot
from controller.console.view import fill_struct
from controller.console.view.area_clocks import AreaStopView, area_stop_of, clock_end_ms
from controller.console.view.wait_reasons import Urgency, WaitingTable
from controller.messages import PublicPair, PublicState, Side

RowLight = Literal["dark", "calm", "busy", "waits", "stands"]

FED_STEP = 13
"""A row shows the number of fed cards in steps of this many cards.

A row that changed with every card would be sent to all pages ten times a second.
"""


class PairName(msgspec.Struct, frozen=True, gc=False):
    """The id, the name and the players of a pair. A page can search its lists for these names."""

    id: str
    name: str
    players: tuple[str, ...] = ()


def build_pair_name(pair: PublicPair) -> PairName:
    """Return the id, the name and the players of a pair."""
    return PairName(pair.id, pair.name, tuple(pair.players.values()))


class MatchSummary(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Facts about a table's match that the hall's list and the table's own display show."""

    simulated: bool = False
    table_no: str | None = None
    event: str | None = None
    round: int | None = None
    match_no: int | None = None
    levels: dict[Side, str | None] = {}
    level: str | None = None
    deal: int | None = None
    phase: str = ""
    phase_en: str = ""
    phase_zh: str = ""
    next_en: str = ""
    next_zh: str = ""
    machine: str = ""
    announced: str | None = None


class HallRow(MatchSummary, frozen=True, gc=False, kw_only=True):
    """The row of one table in the hall's list.

    `since_ms`: since when `standing` has this value (console's clock). `light`: the table at one
    glance, beside words and sign. In the order of `RowLight`: nothing current is known, no match is
    played, a match is played, a person waits, the machine has a fault. `ends_ms` (milliseconds
    since 1970): when the time of the match is up, while its clock runs. `left_s`: the seconds left
    while its clock is stopped. `stop`: the stop of the area's clocks.

    All moments are absolute. So a row changes when something happens, and not every second.
    """

    table: str
    area: str
    standing: Freshness
    since_ms: int
    light: RowLight
    mode: str = "play"
    pairs: dict[Side, PairName] = {}
    fed: int = 0
    ends_ms: int | None = None
    left_s: int | None = None
    stop: AreaStopView | None = None
    added_s: int = 0
    suspended: str | None = None
    signed: int = 0
    unsigned: int = 0
    rulings: int = 0
    taken_by: str | None = None


def build_hall_row(
    snapshot: TableSnapshot,
    standing: tuple[Freshness, int],
    wait: WaitingTable | None = None,
    taken_by: str | None = None,
) -> HallRow:
    """Return a table's row in the hall's list.

    `standing`: the table's freshness, and since when. `taken_by`: the person who goes there.
    """
    (how, since_ms), state = standing, snapshot.state
    if state is None:
        return fill_struct(HallRow, snapshot, standing=how, since_ms=since_ms, light="dark")
    match, received_ms = state.match, snapshot.contact_times.received_ms
    up_ms = clock_end_ms(state, received_ms)
    return fill_struct(
        HallRow,
        state,
        match,
        snapshot,
        standing=how,
        since_ms=since_ms,
        light=_row_light(state, how, wait),
        fed=state.machine.fed // FED_STEP * FED_STEP,
        machine=state.machine.phase.value,
        taken_by=taken_by,
        pairs={side: build_pair_name(pair) for side, pair in match.pairs.items() if pair},
        ends_ms=up_ms,
        left_s=match.clock.left_s if match.clock is not None and up_ms is None else None,
        stop=area_stop_of(state, received_ms),
        added_s=match.added_time_s,
        signed=len(match.signed),
        unsigned=len(match.signers) if match.verdict is not None else 0,
        rulings=sum(ruling.state == "proposed" for ruling in match.rulings),
    )


def _row_light(state: PublicState, freshness: Freshness, wait: WaitingTable | None) -> RowLight:
    if freshness is not Freshness.LIVE:
        return "dark"
    if state.machine.phase == "fault":
        return "stands"
    if wait is not None and wait.rank is not Urgency.TECHNICAL:
        return "waits"
    return "busy" if state.match.started and state.match.verdict is None else "calm"

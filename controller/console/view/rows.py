"""One table in the hall's list: what a referee reads of it from across the room."""

from typing import Literal

import msgspec

from controller.console.standing import Standing
from controller.console.view.waits import Wait
from controller.messages import Clock, Side, State

Light = Literal["dark", "calm", "busy", "waits", "stands"]


class PairName(msgspec.Struct, frozen=True, gc=False):
    """A pair as the list shows it: its number and its name."""

    id: str
    name: str


class Row(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table of the hall. `since_ms` (console's clock): since when its standing is so.

    `light`: how it stands at one glance, beside words and sign: nothing known of it, at rest,
    played at, somebody waits, the machine stands. `clock` is as of `at_ms` of the table's clock.
    """

    table: str
    area: str
    standing: Standing
    since_ms: int
    light: Light
    simulated: bool = False
    mode: str = "play"
    table_no: str | None = None
    event: str | None = None
    round: int | None = None
    match_no: int | None = None
    pairs: dict[Side, PairName] = {}
    levels: dict[Side, str | None] = {}
    level: str | None = None
    deal: int | None = None
    phase: str = ""
    phase_en: str = ""
    phase_zh: str = ""
    next_en: str = ""
    next_zh: str = ""
    fed: int = 0
    machine: str = ""
    clock: Clock | None = None
    at_ms: int | None = None
    announced: str | None = None
    suspended: str | None = None
    signed: int = 0
    unsigned: int = 0
    rulings: int = 0
    taken_by: str | None = None


def row(
    table: str,
    area: str,
    state: State | None,
    standing: tuple[Standing, int],
    wait: Wait | None,
    taken_by: str | None = None,
) -> Row:
    """Return a table's row; of one that was never heard, that it was not."""
    how, since_ms = standing
    if state is None:
        return Row(table=table, area=area, standing=how, since_ms=since_ms, light="dark")
    machine, match = state.machine, state.match
    return Row(
        table=table,
        area=area,
        standing=how,
        since_ms=since_ms,
        light=_light(state, how, wait),
        simulated=state.simulated,
        mode=state.mode,
        table_no=match.table_no,
        event=match.event,
        round=match.round,
        match_no=match.match_no,
        pairs={side: PairName(pair.id, pair.name) for side, pair in match.pairs.items() if pair},
        levels=match.levels,
        level=match.level,
        deal=match.deal,
        phase=match.phase,
        phase_en=match.phase_en,
        phase_zh=match.phase_zh,
        next_en=match.next_en,
        next_zh=match.next_zh,
        fed=machine.fed,
        machine=machine.phase.value,
        clock=match.clock,
        at_ms=match.at_ms,
        announced=match.announced,
        suspended=match.suspended,
        signed=len(match.signed),
        unsigned=len(match.signers) if match.verdict is not None else 0,
        rulings=sum(ruling.state == "proposed" for ruling in match.rulings),
        taken_by=taken_by,
    )


def _light(state: State, standing: Standing, wait: Wait | None) -> Light:
    if standing is not Standing.LIVE:
        return "dark"
    if state.machine.phase == "fault":
        return "stands"
    if wait is not None:
        return "waits"
    return "busy" if state.match.started and state.match.verdict is None else "calm"

"""Whole deals on the chips: the real HALs, the real cores, sim's mechanics."""

from collections.abc import Callable

import pytest

from drivers.board_events import BoardEventCode, CardReadEvent
from tests.chip.rig import ChipTable
from tests.sim.orders import order_of

pytestmark = pytest.mark.virtual
OnChips = Callable[..., ChipTable]


async def test_108_cards_are_dealt_and_lifted(on_chips: OnChips) -> None:
    table = on_chips(cards=108)
    await table.host.open()
    order = order_of(108)
    await table.host.deal(1, order)
    truth = table.world.truth()
    assert [len(pocket) for pocket in truth.pockets] == [27, 27, 27, 27, 0]
    reads = [event for event in table.host.events if isinstance(event, CardReadEvent)]
    by_pocket: dict[int, list[int]] = {seat: [] for seat in range(4)}
    for place, event in zip(order, reads, strict=True):
        by_pocket[place].append(event.face)
    assert {seat: list(truth.faces_in(seat)) for seat in range(4)} == by_pocket
    counted = [
        table.host.count(code)
        for code in (BoardEventCode.STRAY, BoardEventCode.JAM, BoardEventCode.DOUBLE)
    ]
    assert counted == [0, 0, 0]
    assert table.host.count(BoardEventCode.STOPPED) == 0
    await table.host.release()
    assert table.world.truth().lift_up

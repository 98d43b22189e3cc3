"""Edges that come in a thread of the pin library, as on a real table."""

import asyncio
import os
from typing import Any

from drivers.panel import PanelDriver, PanelPins, Press, PressKind, SwitchChange
from tests.panel.late_pins import LatePins
from tests.waiting import until

PINS = PanelPins()


async def test_edges_of_another_thread_while_the_loop_is_blocked_are_judged_by_their_times() -> (
    None
):
    factory, now_s = LatePins(), [100.0]
    presses: list[Press] = []
    switches: list[SwitchChange] = []
    panel = PanelDriver(
        PINS, factory, presses.append, on_switch=switches.append, clock=lambda: now_s[0]
    )
    done, tell = os.pipe()

    def move() -> None:
        north, south, lid = (
            factory.pin(number) for number in (PINS.north_green, PINS.south_green, PINS.lid)
        )
        edges: list[tuple[float, Any]] = [
            (101.00, north.drive_low),
            (101.15, north.drive_high),
            (102.00, south.drive_low),
            (103.00, lid.drive_low),
            (103.10, lid.drive_high),
            (104.00, south.drive_high),
        ]
        for at_s, edge in edges:
            now_s[0] = at_s
            edge()
        os.write(tell, b".")

    moved = asyncio.get_running_loop().run_in_executor(None, move)
    os.read(done, 1)  # blocks the loop until every edge is over
    assert (presses, switches) == ([], [])
    await moved
    await until(lambda: len(presses) == 4 and len(switches) == 2)
    assert [(press.seat, press.kind) for press in presses] == [
        ("N", PressKind.DOWN),
        ("S", PressKind.DOWN),
        ("N", PressKind.SHORT),
        ("S", PressKind.HELD),
    ]
    assert switches == [SwitchChange("lid", False), SwitchChange("lid", True)]
    panel.close()
    os.close(done)
    os.close(tell)

"""A machine that stands still: its lines, its sensors, the boards' own tests, its lid."""

import asyncio

from controller.acceptance.session import FIGURE_OF_STALL, POCKET_PARTS, SelftestSession, percentile
from drivers.dealer import DealerStatus
from drivers.errors import BoardResult
from drivers.events import BoardEventCode, BoardKind, DealerMotor

ROUND_TRIPS = 40
SETTLE_S = 0.3
"""After people's hands, for a contact that trembles."""
SWEEP_INTERVAL_S = 0.004
MAX_SWEEP_CHECKS = 6000
"""Beyond what the board itself allows for five moves."""
ENGINE_TIMEOUT_S = 1.5
"""Beyond the longest read_limit_ms."""


async def measure_round_trips(session: SelftestSession) -> None:
    """Measure how long each line takes for a question and its answer."""
    boards: tuple[tuple[BoardKind, str], ...] = (
        ("dealer", "dealer_line"),
        ("reader", "reader_line"),
    )
    for board, part in boards:
        ask = (
            session.boards.dealer.get_status
            if board == "dealer"
            else session.boards.reader.get_status
        )
        trips = []
        for _ in range(ROUND_TRIPS):
            since_s = session.boards.now_s
            await ask()
            trips.append((session.boards.now_s - since_s) * 1000)
        session.figures.record("round_trip", percentile(trips, 0.95), part)


async def check_sensors(session: SelftestSession) -> None:
    """Compare what the sensors say with a machine at rest; people clear it where they do not."""
    wrong = _wrong_sensors(await session.status())
    if any(wrong.values()) and await session.operator.do("empty"):
        await asyncio.sleep(SETTLE_S)
        wrong = _wrong_sensors(await session.status())
    for part, value in wrong.items():
        session.figures.record("at_rest", float(value), part)


async def run_board_tests(session: SelftestSession) -> None:
    """Have both boards test themselves."""
    await session.lower_lift()
    await _test_gate(session)
    await _test_engine(session)


async def check_lid(session: SelftestSession) -> None:
    """Have the lid opened and closed, and see that nothing starts under it."""
    bench, wrong, notes = session.boards, 0, []
    if not await session.operator.do("open_lid"):
        session.figures.leave_out("lid", "nobody could open the lid")
        return
    await asyncio.sleep(SETTLE_S)
    if not (await session.status()).lid_open:
        wrong += 1
        notes.append("an open lid is not seen")
    if (
        taken := await bench.try_command(bench.dealer.retract())
    ).result is not BoardResult.LID_OPEN:
        wrong += 1
        notes.append(f"the board takes orders under an open lid: {taken.result.name}")
    await session.operator.do("close_lid")
    await asyncio.sleep(SETTLE_S)
    if (await session.status()).lid_open:
        wrong += 1
        notes.append("a closed lid is seen open")
    session.figures.record("lid", wrong, note="; ".join(notes))


async def _test_gate(session: SelftestSession) -> None:
    bench = session.boards
    mark, since_s = bench.mark(), bench.now_s
    taken = await bench.try_command(bench.dealer.selftest())
    if not taken:
        session.figures.leave_out("gate_sweep", f"the board refuses its test: {taken.result.name}")
        return
    for _ in range(MAX_SWEEP_CHECKS):
        if not await bench.dealer.is_moving():
            break
        await asyncio.sleep(SWEEP_INTERVAL_S)
    took_ms = (bench.now_s - since_s) * 1000
    await bench.wait_for_event(
        mark, lambda event: event.code is BoardEventCode.STALL, SWEEP_INTERVAL_S * 10
    )
    if stalls := bench.events_since(mark, BoardEventCode.STALL):
        motor = DealerMotor(stalls[0].event.place)
        session.figures.record_failure(
            FIGURE_OF_STALL[motor], note=f"the motor stalls: {motor.name.lower()}"
        )
    else:
        session.figures.record("gate_sweep", took_ms)


async def _test_engine(session: SelftestSession) -> None:
    bench, name = session.boards, "engine_answer"
    mark = bench.mark()
    taken = await bench.try_command(bench.reader.selftest())
    if taken.result is BoardResult.NO_ENGINE:
        session.figures.record_failure(name, note="the board says that its engine is away")
        return
    said = await bench.wait_for_event(
        mark,
        lambda event: event.code is BoardEventCode.ENGINE and event.index > 0,
        ENGINE_TIMEOUT_S,
    )
    if said is not None and said.event.place:
        session.figures.record(name, said.event.index)
    else:  # some engines say nothing of an empty window: the cards will tell
        session.figures.record_doubt(name, note="it did not answer")


def _wrong_sensors(status: DealerStatus) -> dict[str, bool]:
    """Return which sensors say what is not so of a machine at rest, by their part."""
    seats = [POCKET_PARTS[outlet] for outlet in list(POCKET_PARTS)[:4]]
    return dict(zip(seats, status.sees_pockets, strict=True)) | {
        "tray": status.sees_tray,
        "hopper": not status.sees_hopper,
        "window": status.sees_window,
        "path": status.sees_path,
        "shuffler": status.sees_shuffler,
        "lid": status.lid_open,
        "estop": status.estop,
        "supply": status.supply_low,
    }

"""A machine that stands still: its lines, its sensors, the boards' own tests, its lid."""

import asyncio

from controller.acceptance.session import FIGURE_OF_STALL, POCKETS, Session, percentile
from drivers.dealer import Status
from drivers.errors import Result
from drivers.events import Board, Code, Motor

ROUND_TRIPS = 40
SETTLE_S = 0.3
"""After people's hands, for a contact that trembles."""
SWEEP_INTERVAL_S = 0.004
MAX_SWEEP_CHECKS = 6000
"""Beyond what the board itself allows for five moves."""
ENGINE_TIMEOUT_S = 1.5
"""Beyond the longest read_limit_ms."""


async def lines(of: Session) -> None:
    """Measure how long each line takes for a question and its answer."""
    boards: tuple[tuple[Board, str], ...] = (("dealer", "dealer_line"), ("reader", "reader_line"))
    for board, part in boards:
        ask = of.bench.dealer.status if board == "dealer" else of.bench.reader.status
        trips = []
        for _ in range(ROUND_TRIPS):
            since_s = of.bench.now_s
            await ask()
            trips.append((of.bench.now_s - since_s) * 1000)
        of.figures.take("round_trip", percentile(trips, 0.95), part)


async def sensors(of: Session) -> None:
    """Compare what the sensors say with a machine at rest; people clear it where they do not."""
    wrong = _wrong(await of.status())
    if any(wrong.values()) and await of.hands.do("empty"):
        await asyncio.sleep(SETTLE_S)
        wrong = _wrong(await of.status())
    for part, value in wrong.items():
        of.figures.take("at_rest", float(value), part)


async def run_board_tests(of: Session) -> None:
    """Have both boards test themselves."""
    await of.lower()
    await _gate(of)
    await _engine(of)


async def lid(of: Session) -> None:
    """Have the lid opened and closed, and see that nothing starts under it."""
    bench, wrong, notes = of.bench, 0, []
    if not await of.hands.do("open_lid"):
        of.figures.leave_out("lid", "nobody could open the lid")
        return
    await asyncio.sleep(SETTLE_S)
    if not (await of.status()).lid_open:
        wrong += 1
        notes.append("an open lid is not seen")
    if (taken := await bench.tried(bench.dealer.retract())).result is not Result.LID_OPEN:
        wrong += 1
        notes.append(f"the board takes orders under an open lid: {taken.result.name}")
    await of.hands.do("close_lid")
    await asyncio.sleep(SETTLE_S)
    if (await of.status()).lid_open:
        wrong += 1
        notes.append("a closed lid is seen open")
    of.figures.take("lid", wrong, note="; ".join(notes))


async def _gate(of: Session) -> None:
    bench = of.bench
    mark, since_s = bench.mark(), bench.now_s
    taken = await bench.tried(bench.dealer.selftest())
    if not taken:
        of.figures.leave_out("gate_sweep", f"the board refuses its test: {taken.result.name}")
        return
    for _ in range(MAX_SWEEP_CHECKS):
        if not await bench.dealer.moves():
            break
        await asyncio.sleep(SWEEP_INTERVAL_S)
    took_ms = (bench.now_s - since_s) * 1000
    await bench.until(mark, lambda event: event.code is Code.STALL, SWEEP_INTERVAL_S * 10)
    if stalls := bench.since(mark, Code.STALL):
        motor = Motor(stalls[0].event.place)
        of.figures.fail(FIGURE_OF_STALL[motor], note=f"the motor stalls: {motor.name.lower()}")
    else:
        of.figures.take("gate_sweep", took_ms)


async def _engine(of: Session) -> None:
    bench, name = of.bench, "engine_answer"
    mark = bench.mark()
    taken = await bench.tried(bench.reader.selftest())
    if taken.result is Result.NO_ENGINE:
        of.figures.fail(name, note="the board says that its engine is away")
        return
    said = await bench.until(
        mark, lambda event: event.code is Code.ENGINE and event.index > 0, ENGINE_TIMEOUT_S
    )
    if said is not None and said.event.place:
        of.figures.take(name, said.event.index)
    else:  # some engines say nothing of an empty window: the cards will tell
        of.figures.doubt(name, note="it did not answer")


def _wrong(status: Status) -> dict[str, bool]:
    """Return which sensors say what is not so of a machine at rest, by their part."""
    seats = [POCKETS[outlet] for outlet in list(POCKETS)[:4]]
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

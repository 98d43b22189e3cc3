"""The whole self-test: each part of it after the other, whatever became of the one before."""

from collections.abc import Awaitable, Callable

from controller.acceptance import at_rest, rounds, stops, ways
from controller.acceptance.session import MachineNotReady, Session
from drivers.errors import LineLost, Refused, SessionRenewed

Part = Callable[[Session], Awaitable[None]]
_SAFETY: tuple[tuple[str, Part], ...] = (
    ("lines", at_rest.lines),
    ("sensors at rest", at_rest.sensors),
    ("boards' own tests", at_rest.run_board_tests),
    ("lid", at_rest.lid),
    ("a silent host, while shuffling", stops.check_silence_in_shuffle),
)
_MOTION: tuple[tuple[str, Part], ...] = (
    ("each outlet", ways.outlets),
    ("out of the tray", ways.check_tray_feed),
    ("a silent host, while feeding", stops.check_silence_in_feeding),
    ("emergency stop", stops.check_emergency_stop),
    ("a card that is held", ways.held),
    ("two cards at once", ways.doubled),
)
_ROUND_FIGURES = (
    *("jams", "cards_per_s", "feed_time", "slow_feeds", "pass_time", "doubles", "strays"),
    *("read_time", "unreadable", "unread", "misread", "wrong_cards", "pulses", "count"),
    *("lock", "shuffle_time", "lift_up", "lift_down"),
)
STEPS = len(_SAFETY) + len(_MOTION)
"""Parts before the rounds."""


async def selftest(of: Session, cards: int = rounds.CARDS) -> None:
    """Measure everything, `cards` of them looked at; what is found is in `of.figures`.

    Leaves no motion behind when it is cancelled: the caller closes the bench.
    """
    done = 0
    try:
        for name, part in (*_SAFETY, *_MOTION):
            of.told(name, done, STEPS)
            await _run_part(of, part)
            done += 1
        await _run_rounds(of, cards)
        for board in ("dealer", "reader"):
            trouble = of.bench.trouble("dealer" if board == "dealer" else "reader")
            of.figures.take("line_trouble", trouble, f"{board}_line")
    except LineLost as found:
        lost = of.bench.lost or found
        of.figures.fail("line_trouble", f"{lost.board}_line", note=str(lost))
    finally:
        if of.cards is not None:
            of.cards.close()


async def _run_part(of: Session, part: Part) -> None:
    """Do one part; where the machine cannot be moved its figures say why."""
    try:
        await part(of)
    except MachineNotReady as unready:
        _leave_out(of, part, str(unready))
    except (Refused, SessionRenewed) as error:
        _leave_out(of, part, str(error))


def _leave_out(of: Session, part: Part, why: str) -> None:
    for name in _FIGURES.get(part, ()):
        of.figures.leave_out(name, why)


async def _run_rounds(of: Session, cards: int) -> None:
    """Deal the set again and again, unless every round would break."""
    why = ""
    if of.figures.failed("landing") or of.figures.failed("wrong_outlet"):
        why = "a round would break where a landing is not seen right"
    elif of.figures.failed("gate_sweep"):
        why = "the gate does not move"
    try:
        if not why:
            await rounds.rounds(of, cards)
    except (MachineNotReady, Refused, SessionRenewed) as error:
        why = str(error)
    for name in _ROUND_FIGURES if why else ():
        of.figures.leave_out(name, why)


_FIGURES: dict[Part, tuple[str, ...]] = {
    at_rest.run_board_tests: ("gate_sweep", "engine_answer"),
    stops.check_silence_in_shuffle: ("silence_stop",),
    ways.outlets: ("landing", "pocket", "wrong_outlet"),
    ways.check_tray_feed: ("refeed",),
    stops.check_silence_in_feeding: ("fed_in_silence",),
    stops.check_emergency_stop: ("estop_seen", "estop_stop"),
    ways.held: ("jam_recovery",),
    ways.doubled: ("double_feed",),
}

"""The run of a self-test: safety tests, card tests, rounds. A failure does not end the run."""

from collections.abc import Awaitable, Callable

from controller.acceptance import card_tests, safety_tests
from controller.acceptance.selftest_session import MachineNotReady, SelftestSession
from drivers.errors import BoardRefused, LineLost, SessionRenewed

SelftestPart = Callable[[SelftestSession], Awaitable[None]]
_SAFETY: tuple[tuple[str, SelftestPart], ...] = (
    ("lines", safety_tests.measure_round_trips),
    ("sensors at rest", safety_tests.check_sensors),
    ("boards' own tests", safety_tests.run_board_tests),
    ("lid", safety_tests.check_lid),
    ("a silent host, while shuffling", safety_tests.check_silence_in_shuffle),
)
_MOTION: tuple[tuple[str, SelftestPart], ...] = (
    ("each outlet", card_tests.check_outlets),
    ("out of the tray", card_tests.check_tray_feed),
    ("a silent host, while feeding", safety_tests.check_silence_in_feeding),
    ("emergency stop", safety_tests.check_emergency_stop),
    ("a card that is held", card_tests.check_held_card),
    ("two cards at once", card_tests.check_double_feed),
)
_ROUND_FIGURES = (
    *("jams", "cards_per_s", "feed_time", "slow_feeds", "pass_time", "doubles", "strays"),
    *("read_time", "unreadable", "unread", "misread", "wrong_cards", "pulses", "count"),
    *("lock", "shuffle_time", "lift_up", "lift_down"),
)
PART_COUNT = len(_SAFETY) + len(_MOTION)
"""The number of parts before the rounds."""


async def run_selftest(session: SelftestSession, cards: int = card_tests.MIN_CARDS) -> None:
    """Run all parts of a self-test and store the measured values in `session.figures`.

    The rounds read at least `cards` cards. If the test is cancelled, the caller must close the
    boards, which stops all motion.
    """
    try:
        for done, (name, part) in enumerate((*_SAFETY, *_MOTION)):
            session.on_progress(name, done, PART_COUNT)
            try:
                await part(session)
            except (MachineNotReady, BoardRefused, SessionRenewed) as error:
                for figure in _FIGURES_OF_PART.get(part, ()):
                    session.figures.leave_out(figure, str(error))
        await _run_rounds(session, cards)
        for board in session.boards.links:
            trouble = session.boards.count_line_errors(board)
            session.figures.record("line_trouble", trouble, f"{board}_line")
    except LineLost as found:
        lost = session.boards.line_lost or found
        session.figures.record_failure("line_trouble", f"{lost.board}_line", note=str(lost))
    finally:
        if session.cards is not None:
            session.cards.close()


async def _run_rounds(session: SelftestSession, cards: int) -> None:
    """Deal the whole set in rounds, unless an earlier test of an outlet or of the gate failed."""
    why = ""
    if session.figures.has_failed("landing") or session.figures.has_failed("wrong_outlet"):
        why = "a round would break where a landing is not seen right"
    elif session.figures.has_failed("gate_sweep"):
        why = "the gate does not move"
    try:
        if not why:
            await card_tests.run_rounds(session, cards)
    except (MachineNotReady, BoardRefused, SessionRenewed) as error:
        why = str(error)
    for name in _ROUND_FIGURES if why else ():
        session.figures.leave_out(name, why)


_FIGURES_OF_PART: dict[SelftestPart, tuple[str, ...]] = {
    safety_tests.run_board_tests: ("gate_sweep", "engine_answer"),
    safety_tests.check_silence_in_shuffle: ("silence_stop",),
    card_tests.check_outlets: ("landing", "pocket", "wrong_outlet"),
    card_tests.check_tray_feed: ("refeed",),
    safety_tests.check_silence_in_feeding: ("fed_in_silence",),
    safety_tests.check_emergency_stop: ("estop_seen", "estop_stop"),
    card_tests.check_held_card: ("jam_recovery",),
    card_tests.check_double_feed: ("double_feed",),
}

"""The stack light and the buzzer: what the state looks like from across the hall."""

from controller.machine.play import Play
from controller.machine.state import TableState
from controller.machine.stops import CALLING_FAULTS
from controller.messages import Phase
from drivers.panel import Lamps, Light

_WAITING_PHASES = frozenset({Phase.COMMITTED})
_READY_PHASES = frozenset({Phase.EMPTY, Phase.HELD, Phase.RELEASED})
_MOVING_PHASES = frozenset({Phase.CUT, Phase.SHUFFLING, Phase.DEALING})
_UNTIL_RELEASE = _MOVING_PHASES | {Phase.HELD}


def lamps(state: TableState, play: Play, phase: Phase) -> Lamps:
    """Return how the lamps shine.

    Red: a hand is needed, cards first. Amber: somebody is waited for, blinking for
    the referee; it stays on beside the green while a deal that nobody cut is dealt and held.
    Green: all is well, blinking while cards move.
    """
    waits = phase in _WAITING_PHASES or (phase in _UNTIL_RELEASE and _is_uncut(state))
    called = bool(state.calls or play.needs)
    referee = called or any(name in CALLING_FAULTS for name, _ in state.faults)
    return Lamps(
        red=Light.ON if phase is Phase.FAULT else Light.OFF,
        amber=Light.BLINK if referee else Light.ON if waits else Light.OFF,
        green=Light.BLINK
        if phase in _MOVING_PHASES
        else Light.ON
        if phase in _READY_PHASES
        else Light.OFF,
        buzzer=Light.BLINK if referee else Light.OFF,
    )


def _is_uncut(state: TableState) -> bool:
    """Tell whether the present attempt goes on without a cut."""
    return bool(state.proofs) and state.proofs[-1].uncut

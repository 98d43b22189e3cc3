"""The stack light and the buzzer: what the state looks like from across the hall."""

from controller.machine.play import Play
from controller.machine.state import TableState
from controller.machine.stops import CALLS_ONLY
from controller.messages import Phase
from drivers.panel import Lamps, Light

_WAITING = frozenset({Phase.COMMITTED})
_READY = frozenset({Phase.EMPTY, Phase.HELD, Phase.RELEASED})
_MOVING = frozenset({Phase.CUT, Phase.SHUFFLING, Phase.DEALING})


def lamps(state: TableState, play: Play, phase: Phase) -> Lamps:
    """Return how the lamps shine.

    Red: a hand is needed, cards first. Amber: somebody is waited for, blinking for
    the referee. Green: all is well, blinking while cards move.
    """
    called = bool(state.calls or play.needs)
    referee = called or any(name in CALLS_ONLY for name, _ in state.faults)
    return Lamps(
        red=Light.ON if phase is Phase.FAULT else Light.OFF,
        amber=Light.BLINK if referee else Light.ON if phase in _WAITING else Light.OFF,
        green=Light.BLINK if phase in _MOVING else Light.ON if phase in _READY else Light.OFF,
        buzzer=Light.BLINK if referee else Light.OFF,
    )

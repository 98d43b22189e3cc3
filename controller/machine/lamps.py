"""The stack light and the buzzer: what the state looks like from across the hall."""

from controller.machine.play.values import TableMatch
from controller.machine.state import TableState
from controller.machine.stops import CALLING_FAULTS
from controller.messages import MachinePhase
from drivers.panel import LampMode, Lamps

_WAITING_PHASES = frozenset({MachinePhase.COMMITTED})
_READY_PHASES = frozenset({MachinePhase.EMPTY, MachinePhase.HELD, MachinePhase.RELEASED})
_MOVING_PHASES = frozenset({MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING})
_UNTIL_RELEASE = _MOVING_PHASES | {MachinePhase.HELD}


def choose_lamps(state: TableState, play: TableMatch, phase: MachinePhase) -> Lamps:
    """Return how the lamps shine.

    Red: a hand is needed, cards first. Amber: somebody is waited for, blinking for
    the referee; it stays on beside the green while a deal that nobody cut is dealt and held.
    Green: all is well, blinking while cards move.
    """
    waits = phase in _WAITING_PHASES or (phase in _UNTIL_RELEASE and _is_uncut(state))
    called = bool(state.calls or play.match_calls)
    referee = called or any(name in CALLING_FAULTS for name, _ in state.faults)
    return Lamps(
        red=LampMode.ON if phase is MachinePhase.FAULT else LampMode.OFF,
        amber=LampMode.BLINK if referee else LampMode.ON if waits else LampMode.OFF,
        green=LampMode.BLINK
        if phase in _MOVING_PHASES
        else LampMode.ON
        if phase in _READY_PHASES
        else LampMode.OFF,
        buzzer=LampMode.BLINK if referee else LampMode.OFF,
    )


def _is_uncut(state: TableState) -> bool:
    """Tell whether the present attempt goes on without a cut."""
    return bool(state.proofs) and state.proofs[-1].uncut

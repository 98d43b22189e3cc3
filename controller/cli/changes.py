"""What is worth a line when a table's state follows another. Pure."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from controller.gateway.line import LineState
from controller.messages import Alert, Fairness, Machine, State


class Line(NamedTuple):
    """A line for people, and its style in rich's words."""

    text: str
    style: str = ""


GOOD: Final = "green"
BAD: Final = "bold red"
_PHASE_STYLES: Final = {"fault": BAD, "held": GOOD, "released": GOOD}
_OUTCOME_STYLES: Final = {"ok": GOOD}


def changes(before: State | None, now: State) -> Iterator[Line]:
    """Yield what `now` says that `before` (None: nothing) did not, in the order of importance."""
    known = {alert.name for alert in before.alerts} if before else set()
    for alert in now.alerts:
        if alert.name not in known:
            yield Line(_alert(alert), BAD)
    for name in sorted(known - {alert.name for alert in now.alerts}):
        yield Line(f"{name} is over", GOOD)
    if before is None or _progress(before.machine) != _progress(now.machine):
        yield Line(_machine(now), _PHASE_STYLES.get(now.machine.phase, ""))
    ended = {proof.attempt for proof in before.fairness if proof.outcome} if before else set()
    for proof in now.fairness:
        if before is not None and proof.outcome and proof.attempt not in ended:
            yield Line(_outcome(proof), _OUTCOME_STYLES.get(proof.outcome, BAD))


def way(state: LineState, last: State | None) -> Line:
    """Return the line that says how the way to a table stands; `last` is what it last said."""
    if state is LineState.OPEN:
        return Line(str(state), GOOD)
    since = f", silent since {last.time}" if last else ""
    return Line(f"{state}{since}", BAD)


def silence(last: State | None, after_s: float) -> Line:
    """Return the line for a table that says nothing; its own clock tells since when."""
    since = f"silent since {last.time}" if last else f"nothing heard for {after_s:g} s"
    return Line(f"{since}: is its computer on, its gateway running, its machine alive?", BAD)


def _progress(machine: Machine) -> tuple[object, ...]:
    return machine.phase, machine.deal, machine.attempt, machine.fed, machine.refed


def _machine(state: State) -> str:
    machine = state.machine
    words = [f"{machine.phase:<10}"]
    if machine.deal is not None:
        words.append(f"deal {machine.deal} attempt {machine.attempt}")
    if machine.fed or machine.refed:
        words.append(f"fed {machine.fed}")
    if machine.refed:
        words.append(f"again {machine.refed}")
    if state.simulated:
        words.append("(simulated)")
    return "  ".join(words).rstrip()


def _alert(alert: Alert) -> str:
    return f"{alert.name} ({alert.code}): {alert.cause}. Next: {alert.action}"


def _outcome(proof: Fairness) -> str:
    why = f" ({', '.join(proof.reasons)})" if proof.reasons else ""
    return f"attempt {proof.attempt} of deal {proof.deal}: {proof.outcome}{why}"

"""What is worth a line when a table's state follows another. Pure."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from controller.gateway.line import LineState
from controller.messages import Alert, Call, Fairness, Machine, Match, State


class Line(NamedTuple):
    """A line for people, and its style in rich's words."""

    text: str
    style: str = ""


GOOD: Final = "green"
BAD: Final = "bold red"
CALLS: Final = "bold yellow"
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
    waited = {(call.seat, call.reason) for call in before.calls} if before else set()
    for call in now.calls:
        if (call.seat, call.reason) not in waited:
            yield Line(_call(call), CALLS)
    if now.match.match and (before is None or _standing(before.match) != _standing(now.match)):
        yield Line(_match(now.match))
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


def _standing(match: Match) -> tuple[object, ...]:
    return match.match, match.phase, match.deal, match.level, match.levels, match.next_en


def _match(match: Match) -> str:
    """Return where a match stands, and who is waited for."""
    levels = " : ".join(f"{side} {level or '–'}" for side, level in match.levels.items())
    words = [f"台号{match.table_no}", match.phase_zh]
    if match.game == "guandan":
        words.append(levels)
    if match.deal:
        level = f" level {match.level}" if match.level else ""
        words.append(f"deal {match.deal}{level}")
    return "  ".join([*words, match.next_en]).rstrip()


def _call(call: Call) -> str:
    who = f"{call.seat}: " if call.seat else ""
    words = " ".join(dict.fromkeys((call.words_en, call.words_zh)))  # a player's own are the same
    return f"REFEREE 裁判  {who}{words}"


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

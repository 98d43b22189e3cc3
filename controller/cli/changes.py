"""What is worth a line when a table's state follows another, in one language. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from controller.cli.watch_words import OUTCOMES_ZH, SAID, WAYS
from controller.client.line import LineState
from controller.faults import Language
from controller.messages import Alert, Call, Fairness, Machine, Match, State
from controller.rules.seat_words import SEATS, SIDES
from controller.words import MACHINE_PHASE_WORDS, ROLES, reason_words


class Line(NamedTuple):
    """A line for people, and its style in rich's words."""

    text: str
    style: str = ""


GOOD: Final = "green"
BAD: Final = "bold red"
CALLS: Final = "bold yellow"
_PHASE_STYLES: Final = {"fault": BAD, "held": GOOD, "released": GOOD}
_OUTCOME_STYLES: Final = {"ok": GOOD}


class StateLines:
    """The lines of one table, in `language`."""

    def __init__(self, language: Language = "en") -> None:
        self._language = language

    def of(
        self, before: State | None, now: State, whys: Mapping[str, str] | None = None
    ) -> Iterator[Line]:
        """Yield what `now` says that `before` (None: nothing) did not, in the order of importance.

        `whys`: what whoever holds the table gave as his reason, by the pause's name, where that
        was heard.
        """
        yield from self._alert_lines(before.alerts if before else [], now.alerts)
        yield from self._pause_lines(
            before.machine.pauses if before else {}, now.machine.pauses, whys or {}
        )
        waited = {(call.seat, call.reason) for call in before.calls} if before else set()
        for call in now.calls:
            if (call.seat, call.reason) not in waited:
                yield Line(self._call_text(call), CALLS)
        if now.match.match and (
            before is None or _match_fields(before.match) != _match_fields(now.match)
        ):
            yield Line(self._match_text(now.match))
        if before is None or _machine_fields(before.machine) != _machine_fields(now.machine):
            yield Line(self._machine_text(now), _PHASE_STYLES.get(now.machine.phase, ""))
        ended = {proof.attempt for proof in before.fairness if proof.outcome} if before else set()
        for proof in now.fairness:
            if before is not None and proof.outcome and proof.attempt not in ended:
                yield Line(self._outcome_text(proof), _OUTCOME_STYLES.get(proof.outcome, BAD))

    def way(self, state: LineState, last: State | None) -> Line:
        """Return the line that says how the way to a table stands; `last` is what it last said."""
        said = WAYS[state] if self._language == "zh" else str(state)
        if state is LineState.OPEN:
            return Line(said, GOOD)
        since = self.say("comma") + self.say("since", time=last.time) if last else ""
        return Line(f"{said}{since}", BAD)

    def silence(self, last: State | None, after_s: float) -> Line:
        """Return the line for a table that says nothing; its own clock tells since when."""
        since = self.say("since", time=last.time) if last else self.say("unheard", after_s=after_s)
        return Line(self.say("silence", since=since), BAD)

    def say(self, part: str, /, **told: object) -> str:
        """Return a line or a part of one, with what it tells filled in."""
        words = SAID[part]
        return (words.zh if self._language == "zh" else words.en).format(**told)

    def _alert_lines(self, before: list[Alert], now: list[Alert]) -> Iterator[Line]:
        known = {alert.name for alert in before}
        for alert in now:
            if alert.name not in known:
                yield Line(self._alert_text(alert), BAD)
        for name in sorted(known - {alert.name for alert in now}):
            yield Line(self.say("over", name=name), GOOD)

    def _pause_lines(
        self, before: Mapping[str, str], now: Mapping[str, str], whys: Mapping[str, str]
    ) -> Iterator[Line]:
        for role, by in now.items():
            if before.get(role) != by:
                said = reason_words(whys.get(role, ""))
                told = said.zh if self._language == "zh" else said.en
                why = self.say("why", why=told) if told else ""
                yield Line(self.say("hold", by=by, role=self._role_text(role), why=why), CALLS)
        for role, by in before.items():
            if role not in now:
                yield Line(self.say("hold_over", by=by, role=self._role_text(role)), GOOD)

    def _role_text(self, role: str) -> str:
        return ROLES[role].zh if self._language == "zh" and role in ROLES else role

    def _match_text(self, match: Match) -> str:
        """Return where a match stands, and who is waited for."""
        zh = self._language == "zh"
        words = [
            self.say("table", table_no=match.table_no),
            match.phase_zh if zh else match.phase_en,
        ]
        if match.game == "guandan":
            names = {side: SIDES[side].zh if zh else side for side in match.levels}
            levels = (f"{names[side]} {level or '–'}" for side, level in match.levels.items())
            words.append(" : ".join(levels))
        if match.deal:
            level = self.say("level", level=match.level) if match.level else ""
            words.append(self.say("deal", deal=match.deal) + level)
        return "  ".join([*words, match.next_zh if zh else match.next_en]).rstrip()

    def _call_text(self, call: Call) -> str:
        zh = self._language == "zh"
        seat = call.seat and (SEATS[call.seat].zh if zh else call.seat)
        who = self.say("caller", seat=seat) if seat else ""
        ours, theirs = (call.words_zh, call.words_en) if zh else (call.words_en, call.words_zh)
        return self.say("call", who=who, words=ours or theirs)

    def _machine_text(self, state: State) -> str:
        machine = state.machine
        phase = (
            MACHINE_PHASE_WORDS[machine.phase].zh
            if self._language == "zh"
            else f"{machine.phase:<10}"
        )
        words = [phase]
        if machine.deal is not None:
            words.append(self._attempt(machine.deal, machine.of_deal))
        if machine.fed or machine.refed:
            words.append(self.say("fed", fed=machine.fed))
        if machine.refed:
            words.append(self.say("again", refed=machine.refed))
        if state.simulated:
            words.append(self.say("simulated"))
        return "  ".join(words).rstrip()

    def _alert_text(self, alert: Alert) -> str:
        zh = self._language == "zh" and alert.cause_zh
        return self.say(
            "alert",
            name=alert.name,
            code=alert.code,
            cause=alert.cause_zh if zh else alert.cause,
            action=alert.action_zh if zh else alert.action,
        )

    def _outcome_text(self, proof: Fairness) -> str:
        why = self.say("reasons", why=", ".join(proof.reasons)) if proof.reasons else ""
        outcome = proof.outcome
        assert outcome is not None  # only ended attempts are told
        told = OUTCOMES_ZH[outcome] if self._language == "zh" else outcome.value
        which = self._attempt(proof.deal, proof.of_deal)
        return self.say("outcome", attempt=which, outcome=told, why=why)

    def _attempt(self, deal: int, of_deal: int | None) -> str:
        """Return which attempt at a deal; a table of an older version does not say."""
        if of_deal is None:
            return self.say("deal", deal=deal)
        return self.say("attempt", deal=deal, attempt=of_deal)


def _machine_fields(machine: Machine) -> tuple[object, ...]:
    return machine.phase, machine.deal, machine.attempt, machine.fed, machine.refed


def _match_fields(match: Match) -> tuple[object, ...]:
    return match.match, match.phase, match.deal, match.level, match.levels, match.next_en

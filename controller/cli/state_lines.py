"""Lines for people about the state of a table, in English and Chinese."""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Final, NamedTuple

from controller.client.connection import TableConnectionState
from controller.faults import Language
from controller.messages import (
    Alert,
    AttemptOutcome,
    Fairness,
    PublicMatch,
    PublicState,
    RefereeCall,
)
from controller.seats import SEAT_NAMES, SIDE_NAMES
from controller.words import MACHINE_PHASE_WORDS, ROLE_WORDS, Words, reason_words

LINE_TEXTS: Final[Mapping[str, Words]] = {
    "alert": Words(
        "{name} ({code}): {cause}. Next: {action}", "{name} ({code})：{cause}。处理：{action}"
    ),
    "over": Words("{name} is over", "{name} 已解除"),
    "call": Words("REFEREE  {who}{words}", "裁判  {who}{words}"),
    "caller": Words("{seat}: ", "{seat}："),
    "hold": Words("STOPPED by {by} ({role}){why}", "暂停  {by}（{role}）{why}"),
    "why": Words(": {why}", "：{why}"),
    "hold_over": Words("the stop by {by} ({role}) is over", "{by}（{role}）的暂停已解除"),
    "table": Words("table {table_no}", "台号{table_no}"),
    "deal": Words("deal {deal}", "第{deal}副"),
    "level": Words(" level {level}", " 打{level}"),
    "attempt": Words("deal {deal} attempt {attempt}", "第{deal}副 本台第{attempt}次发牌"),
    "fed": Words("fed {fed}", "已送{fed}张"),
    "again": Words("again {refed}", "复送{refed}张"),
    "simulated": Words("(simulated)", "（模拟）"),
    "outcome": Words("{attempt}: {outcome}{why}", "{attempt}：{outcome}{why}"),
    "reasons": Words(" ({why})", "（{why}）"),
    "since": Words("silent since {time}", "{time}以后无消息"),
    "unheard": Words("nothing received for {after_s:g} s", "{after_s:g}秒内无消息"),
    "silence": Words(
        "{since}: is its computer on, its gateway running, its machine alive?",
        "{since}：电脑是否开机？网关、机器程序是否运行？",
    ),
    "comma": Words(", ", "，"),
    "version": Words(
        "a state of another version, or none: {why}", "状态的版本不同，或不是状态：{why}"
    ),
    "stranger": Words("not a table's message: {why}", "不是牌桌的消息：{why}"),
}
"""Texts of lines and of their parts."""

OUTCOMES_ZH: Final[Mapping[AttemptOutcome, str]] = {
    AttemptOutcome.OK: "发牌成功",
    AttemptOutcome.MISDEAL: "重新发牌",
    AttemptOutcome.VOID: "作废",
}
"""The outcome of an attempt, in Chinese."""

LINE_STATES_ZH: Final[Mapping[TableConnectionState, str]] = {
    TableConnectionState.CONNECTING: "正在连接",
    TableConnectionState.OPEN: "已连接",
    TableConnectionState.DOWN: "该地址无应答",
    TableConnectionState.KEY_REFUSED: "密钥被拒：未获准、已吊销或已过期",
    TableConnectionState.OTHER_KEY: "密钥不符：该地址不是本台，不向它发送任何内容",
}
"""The state of the connection to a table, in Chinese."""


class StateLine(NamedTuple):
    """A line of text for people, and the style in which rich prints it."""

    text: str
    style: str = ""


GOOD_STYLE: Final = "green"
BAD_STYLE: Final = "bold red"
CALL_STYLE: Final = "bold yellow"
_PHASE_STYLES: Final = {"fault": BAD_STYLE, "held": GOOD_STYLE, "released": GOOD_STYLE}
_OUTCOME_STYLES: Final = {"ok": GOOD_STYLE}


class StateLines:
    """A formatter of lines for people about the state of one table, in one language."""

    def __init__(self, language: Language = "en") -> None:
        self._is_chinese = language == "zh"

    def compare(
        self,
        before: PublicState | None,
        now: PublicState,
        pause_reasons: Mapping[str, str] | None = None,
    ) -> Iterator[StateLine]:
        """Yield a line for each change from the state `before` to `now`, the most important first.

        `before` is None for the first state. `pause_reasons` has the reasons that people
        gave for pauses, by the role that paused, as far as the feed contained them.
        """
        yield from self._alert_lines(before.alerts if before else [], now.alerts)
        yield from self._pause_lines(
            before.machine.pauses if before else {}, now.machine.pauses, pause_reasons or {}
        )
        waited = {(call.seat, call.reason) for call in before.calls} if before else set()
        for call in now.calls:
            if (call.seat, call.reason) not in waited:
                yield StateLine(self._call_text(call), CALL_STYLE)
        if now.match.match and (
            before is None or _match_fields(before.match) != _match_fields(now.match)
        ):
            yield StateLine(self._match_text(now.match))
        if before is None or _machine_fields(before.machine) != _machine_fields(now.machine):
            yield StateLine(self._machine_text(now), _PHASE_STYLES.get(now.machine.phase, ""))
        ended = {proof.attempt for proof in before.fairness if proof.outcome} if before else set()
        for proof in now.fairness:
            if before is not None and proof.outcome and proof.attempt not in ended:
                yield StateLine(
                    self._outcome_text(proof), _OUTCOME_STYLES.get(proof.outcome, BAD_STYLE)
                )

    def connection_line(
        self, state: TableConnectionState, last_state: PublicState | None
    ) -> StateLine:
        """Return a line with the state of the connection.

        If the connection is not open, the line also has the time of `last_state`, if there is one.
        """
        said = LINE_STATES_ZH[state] if self._is_chinese else str(state)
        if state is TableConnectionState.OPEN:
            return StateLine(said, GOOD_STYLE)
        since = ""
        if last_state:
            since = self.format_text("comma") + self.format_text("since", time=last_state.time)
        return StateLine(f"{said}{since}", BAD_STYLE)

    def silence_line(self, last_state: PublicState | None, after_s: float) -> StateLine:
        """Return a line with a warning: the table has been silent since the time of `last_state`.

        If `last_state` is None, the line has the length of the silence instead, `after_s` seconds.
        """
        part, time = ("since", last_state.time) if last_state else ("unheard", "")
        since = self.format_text(part, time=time, after_s=after_s)
        return StateLine(self.format_text("silence", since=since), BAD_STYLE)

    def format_text(self, part: str, /, **values: object) -> str:
        """Return the text `part` of LINE_TEXTS with `values` filled in."""
        return self._choose(LINE_TEXTS[part]).format(**values)

    def _choose(self, words: Words) -> str:
        return words.zh if self._is_chinese else words.en

    def _alert_lines(self, before: list[Alert], now: list[Alert]) -> Iterator[StateLine]:
        known = {alert.name for alert in before}
        for alert in now:
            if alert.name not in known:
                yield StateLine(self._alert_text(alert), BAD_STYLE)
        for name in sorted(known - {alert.name for alert in now}):
            yield StateLine(self.format_text("over", name=name), GOOD_STYLE)

    def _pause_lines(
        self, before: Mapping[str, str], now: Mapping[str, str], pause_reasons: Mapping[str, str]
    ) -> Iterator[StateLine]:
        for role, by in now.items():
            if before.get(role) != by:
                told = self._choose(reason_words(pause_reasons.get(role, "")))
                why = self.format_text("why", why=told) if told else ""
                yield StateLine(
                    self.format_text("hold", by=by, role=self._role_text(role), why=why), CALL_STYLE
                )
        for role, by in before.items():
            if role not in now:
                yield StateLine(
                    self.format_text("hold_over", by=by, role=self._role_text(role)), GOOD_STYLE
                )

    def _role_text(self, role: str) -> str:
        return ROLE_WORDS[role].zh if self._is_chinese and role in ROLE_WORDS else role

    def _match_text(self, match: PublicMatch) -> str:
        """Return a text about a match: table number, phase, levels, deal, and the next step."""
        zh = self._is_chinese
        words = [
            self.format_text("table", table_no=match.table_no),
            match.phase_zh if zh else match.phase_en,
        ]
        if match.game == "guandan":
            levels = (
                f"{SIDE_NAMES[side].zh if zh else side} {level or '–'}"
                for side, level in match.levels.items()
            )
            words.append(" : ".join(levels))
        if match.deal:
            level = self.format_text("level", level=match.level) if match.level else ""
            words.append(self.format_text("deal", deal=match.deal) + level)
        return "  ".join([*words, match.next_zh if zh else match.next_en]).rstrip()

    def _call_text(self, call: RefereeCall) -> str:
        zh = self._is_chinese
        seat = call.seat and (SEAT_NAMES[call.seat].zh if zh else call.seat)
        who = self.format_text("caller", seat=seat) if seat else ""
        ours, theirs = (call.words_zh, call.words_en) if zh else (call.words_en, call.words_zh)
        return self.format_text("call", who=who, words=ours or theirs)

    def _machine_text(self, state: PublicState) -> str:
        machine = state.machine
        zh = self._is_chinese
        words = [MACHINE_PHASE_WORDS[machine.phase].zh if zh else f"{machine.phase:<10}"]
        if machine.deal is not None:
            words.append(self._attempt_text(machine.deal, machine.of_deal))
        if machine.fed or machine.refed:
            words.append(self.format_text("fed", fed=machine.fed))
        if machine.refed:
            words.append(self.format_text("again", refed=machine.refed))
        if state.simulated:
            words.append(self.format_text("simulated"))
        return "  ".join(words).rstrip()

    def _alert_text(self, alert: Alert) -> str:
        zh = self._is_chinese and alert.cause_zh
        return self.format_text(
            "alert",
            name=alert.name,
            code=alert.code,
            cause=alert.cause_zh if zh else alert.cause,
            action=alert.action_zh if zh else alert.action,
        )

    def _outcome_text(self, proof: Fairness) -> str:
        why = self.format_text("reasons", why=", ".join(proof.reasons)) if proof.reasons else ""
        outcome = proof.outcome
        assert outcome is not None  # called only for ended attempts
        told = OUTCOMES_ZH[outcome] if self._is_chinese else outcome.value
        which = self._attempt_text(proof.deal, proof.of_deal)
        return self.format_text("outcome", attempt=which, outcome=told, why=why)

    def _attempt_text(self, deal: int, of_deal: int | None) -> str:
        """Return a text with the number of a deal, and the number of an attempt at this deal.

        `of_deal`, the second number, is None if a table of an older version did not send it.
        """
        if of_deal is None:
            return self.format_text("deal", deal=deal)
        return self.format_text("attempt", deal=deal, attempt=of_deal)


_machine_fields: Final = attrgetter("phase", "deal", "attempt", "fed", "refed")
_match_fields: Final = attrgetter("match", "phase", "deal", "level", "levels", "next_en")

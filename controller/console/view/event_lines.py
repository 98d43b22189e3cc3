"""The public entries of a table's journal as lines of plain words, in English and Chinese.

The functions are pure. Entries are described in their order. `DealContext` contains what a line
needs from earlier entries.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from controller.commands.registry import PANEL_KEY
from controller.console.view import fill_struct, match_event_lines, phrases
from controller.console.view.phrases import (
    DealContext,
    DescribeEvent,
    EventData,
    constant_line,
    fault_words,
    name_of,
    template_line,
)
from controller.faults import fault_catalogue
from controller.messages import PublicEvent
from controller.seats import SEAT_NAMES
from controller.words import CALL_WORDS, COMMAND_WORDS, ROLE_WORDS, Words, reason_words


class TableEventLine(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A line of words that describes entry `n` of a table's journal.

    `quiet`: another line describes this step better. `order`: the id of the command that the entry
    records. `corrects`: the deal with the result that the entry enters or confirms.
    """

    n: int
    time: str
    kind: str
    deal: int | None
    attempt: int | None
    en: str
    zh: str
    quiet: bool = False
    order: str | None = None
    corrects: int | None = None


_MALFORMED_ERRORS: Final = (LookupError, TypeError, ValueError, AttributeError)
"""An entry of a later version may contain anything. Its line is then the name of its kind."""
NO_CONTEXT: Final = DealContext()
"""The context before the first entry. A line leaves out what needs an earlier entry."""


def describe_event(event: PublicEvent, context: DealContext = NO_CONTEXT) -> TableEventLine:
    """Describe a public entry in words. An entry of an unknown kind is described by its kind."""
    try:
        words = LINE_BY_KIND[event.kind](event.data, context)
    except _MALFORMED_ERRORS:
        words = Words(event.kind, event.kind)
    return fill_struct(
        TableEventLine,
        event,
        words,
        quiet=_is_quiet(event, context),
        order=str(event.data.get("id")) if event.kind == "command" else None,
        corrects=event.deal if str(event.data.get("event")) in _RESULT_EVENTS else None,
    )


def advance_context(event: PublicEvent, context: DealContext) -> DealContext:
    """Return `context` updated with `event`, for the description of the next entry."""
    if event.kind in ("match", "match_told"):
        try:
            alone = event.kind == "match"
            for one in [{"event": event.data}] if alone else event.data.get("told", ()):
                context = match_event_lines.advance_match_context(one.get("event", {}), context)
        except _MALFORMED_ERRORS:
            return NO_CONTEXT
    elif event.kind == "released":
        return DealContext(whole=True, charged=context.charged)
    elif event.kind == "recalled":
        return DealContext(charged=context.charged)
    elif event.kind in _MATCH_CHANGE_KINDS:
        return NO_CONTEXT
    return context


def describe_events(
    events: Iterable[PublicEvent], context: DealContext = NO_CONTEXT
) -> tuple[TableEventLine, ...]:
    """Return a line of words for each entry, in the given order. The oldest must come first."""
    lines = []
    for event in events:
        lines.append(describe_event(event, context))
        context = advance_context(event, context)
    return tuple(lines)


def _is_quiet(event: PublicEvent, context: DealContext) -> bool:
    data = event.data
    if event.kind == "match":
        return match_event_lines.is_quiet(data, context)
    if event.kind == "verdict":
        return data.get("outcome") == "ok"
    if event.kind == "command":
        return "refused" not in data and str(data.get("cmd")) not in _COMMANDS_WITHOUT_EVENT
    return event.kind in _STEP_KINDS


_MATCH_CHANGE_KINDS: Final = frozenset({"meeting", "transferred"})
"""Kinds of entry after which the earlier context is no longer valid."""
_RESULT_EVENTS: Final = frozenset({"ResultEntered", "Confirmed"})
_STEP_KINDS: Final = frozenset({"begun", "shuffled", "dealt", "record"})
_COMMANDS_WITHOUT_EVENT: Final = frozenset(
    {"selftest", "configure", "calibrate", "clear_jam", "tribute", "return", "start_deal"}
)
"""Commands that no other entry records."""


def _describe_cut(data: EventData, context: DealContext) -> Words:
    if "cut" not in data:
        return Words("no cut is required", "本副不切牌")
    cut, seat, why = data["cut"], data.get("seat"), data.get("reason")
    if cut is None:
        return Words(f"uncut: {why or ''}".rstrip(": "), f"本副未切牌：{why or ''}".rstrip("："))
    return phrases.cut_words(cut, seat)


def _describe_verdict(data: EventData, context: DealContext) -> Words:
    outcome = str(data.get("outcome"))
    if outcome == "ok":
        return Words("all four hands are right, 108 cards counted", "四手牌核对无误")
    why, landed = fault_words(data.get("reasons", ())), data.get("landed") or {}
    counts = "·".join(str(landed.get(seat, 0)) for seat in "NWSE")
    told = Words("misdeal", "发牌有误") if outcome == "misdeal" else Words("void", "作废")
    return Words(
        f"{told.en}: {why.en} (fed {data.get('fed')}, landed {counts})",
        f"{told.zh}：{why.zh}（送出{data.get('fed')}张，落入{counts}）",
    )


def _describe_match_start(data: EventData, context: DealContext) -> Words:
    pairs = data.get("meeting", {}).get("pairs", {})
    names = [pairs[side].get("name", "") for side in ("NS", "EW") if side in pairs]
    rules = phrases.rulebook_name(str(data.get("profile")))
    return Words(
        f"match {data.get('match')} is laid out: {' v '.join(names)} ({rules.en})",
        f"排定对阵{data.get('match')}：{'对'.join(names)}（{rules.zh}）",
    )


def _describe_match_events(data: EventData, context: DealContext) -> Words:
    lines = []
    for one in data.get("told", ()):
        event = one.get("event", {})
        lines.append(match_event_lines.describe_match_event(event, context))
        context = match_event_lines.advance_match_context(event, context)
    return Words("; ".join(line.en for line in lines), "；".join(line.zh for line in lines))


def _describe_start(data: EventData, context: DealContext) -> Words:
    version = (data.get("release") or {}).get("version", data.get("version"))
    return Words(f"the table's program started, version {version}", f"本台程序启动，版本{version}")


def _describe_command(data: EventData, context: DealContext) -> Words:
    what = name_of(COMMAND_WORDS, data.get("cmd"))
    person, key = data.get("person"), data.get("who")
    role = name_of(ROLE_WORDS, data.get("role"))
    end = phrases.NO_WORDS  # Most answers have no text.
    if (refused := data.get("refused")) is not None:
        why = fault_words([refused])
        end = Words(f": not carried out, {why.en}", f"：未能执行，{why.zh}")
    elif (right := (data.get("result") or {}).get("right")) is not None:
        end = Words(": right", "：正确") if right else Words(": wrong", "：贡错")
    if key == PANEL_KEY:
        return Words(f"a button at the table: {what.en}{end.en}", f"本台按钮：{what.zh}{end.zh}")
    if not person and str(key) == data.get("role"):
        return Words(f"{role.en}: {what.en}{end.en}", f"{role.zh}：{what.zh}{end.zh}")
    who = f"{person} ({key})" if person else str(key)
    return Words(f"{role.en} {who}: {what.en}{end.en}", f"{role.zh} {who}：{what.zh}{end.zh}")


def _matter_words(name: Any) -> Words:
    return fault_words([name]) if name in fault_catalogue() else name_of(CALL_WORDS, name)


def _fault_line(en: str, zh: str) -> DescribeEvent:
    """Return a function that describes a fault's entry: the text `en` or `zh`, then the cause."""

    def tell(data: EventData, before: DealContext) -> Words:
        words = phrases.fault_cause(str(data.get("name")), data.get("evidence") or {})
        return Words(f"{en}: {words.en}", f"{zh}：{words.zh}")

    return tell


LINE_BY_KIND: Final[Mapping[str, DescribeEvent]] = {
    "opened": _describe_start,
    "committed": template_line(
        "dealing is sealed, set {set}: {commitment}",
        "发牌封存，{set}套牌：{commitment}",
        commitment=phrases.shorten,
    ),
    "cut": _describe_cut,
    "begun": constant_line("the set is in the machine", "牌已入机"),
    "shuffled": template_line("shuffled, {passes} passes", "洗牌完毕，{passes}遍"),
    "dealt": template_line(
        "all cards are dealt: {fed} fed, {refed} fed again", "发牌完毕：送出{fed}张，复送{refed}张"
    ),
    "held": constant_line("the hands are ready and locked in", "牌已备好，待放行"),
    "verdict": _describe_verdict,
    "released": phrases.leader_line("the hands are released", "手牌已放行", "leader"),
    "sealed_to_chief": template_line(
        "only the chief can open this attempt: {reason}",
        "本次发牌仅裁判长可解封：{reason}",
        reason=lambda reason: fault_words([reason]),
    ),
    "revealed": constant_line(
        "the deal is revealed: every person may check it", "发牌已解封，可核验"
    ),
    "withdrawn": template_line(
        "the hands that were ready are not released: {reasons}",
        "备好的手牌不再放行：{reasons}",
        reasons=fault_words,
    ),
    "record": constant_line("the whole record of the attempt is public", "本次发牌完整记录已公开"),
    "recalled": template_line(
        "released hands are dealt again: {reasons}",
        "已放行的手牌重新发：{reasons}",
        reasons=fault_words,
    ),
    "meeting": _describe_match_start,
    "match": match_event_lines.describe_match_event,
    "match_told": _describe_match_events,
    "transferred": template_line(
        "match {match} continues at {to} ({by})", "{match}转至{to}台（{by}）"
    ),
    "taken_over": template_line(
        "match {match} came from {table} ({by})", "{match}由{table}台转来（{by}）"
    ),
    "opened_hand": template_line(
        "{by} looked at the hand of {seat}: {reason}",
        "{by}开验{seat}手牌：{reason}",
        seat=SEAT_NAMES,
    ),
    "command": _describe_command,
    "call": template_line(
        "{seat} calls the referee{reason}",
        "{seat}召请裁判{reason}",
        seat=SEAT_NAMES,
        reason=lambda why: (
            phrases.NO_WORDS if why in (None, "", "button") else Words(f": {why}", f"：{why}")
        ),
    ),
    "call_ended": template_line("{seat} took the call back", "{seat}取消召请", seat=SEAT_NAMES),
    "pause": template_line("stopped by {by}: {why}", "{by}暂停：{why}", why=reason_words),
    "pause_ended": template_line("resumed by {by}", "{by}恢复"),
    "acknowledged": template_line(
        "seen to by {by}: {name}", "{by}已知悉：{name}", name=_matter_words
    ),
    "set_loaded": template_line(
        "set {set} (back {back}) is in the machine ({by})", "装入{set}套牌（{back}背）（{by}）"
    ),
    "set_cleared": template_line(
        "set {set} was counted and is whole ({by})", "{set}套牌清点无误（{by}）"
    ),
    "fault": _fault_line("fault", "告警"),
    "fault_cleared": _fault_line("over", "已解除"),
}
"""The line of every kind of public entry."""

"""A tournament's regulations (补充规定) as a page to sign, and the hash of a profile.

The page is plain text in Chinese and English. The printed text and the hashed text are the same
bytes (UTF-8, a line feed after every line).
"""

import hashlib
from collections.abc import Iterable, Iterator

from controller.rules.profile import Profile
from controller.rules.regulations import (
    OpenMatter,
    RegulationPoint,
    ReplacedAct,
    regulations_to_settle,
)
from controller.rules.text_columns import pack
from controller.signing import canonical_json, length_prefixed
from controller.words import Words

PageLines = Iterator[str]
PageItem = Iterator[tuple[str, ...]]
"""Rows of one item of the page. The parts of a row are placed side by side if they fit."""

WIDTH = 78
"""Cells of the longest line. The line fits a terminal and a sheet of paper."""

_INDENT = "     "
_RULE = "─" * 72
_SILENT = "[规则未载 the text is silent]"
_PROVISIONAL = "【暂定 provisional】"
_BLANK = "____________________"
_KNOWN: dict[bytes, bytes] = {}
"""Hashes by the text of a profile. A page takes long to write, and a process uses few profiles."""


def profile_hash(profile: Profile) -> bytes:
    """Return the hash that identifies a profile in every commitment.

    The hash covers the rules and the page of regulations:

    SHA-256( L("dealtable/profile/1") ‖ L(SHA-256 of the profile as canonical JSON) ‖ L(SHA-256 of
    the page) ), as defined in controller/deal/PROOF.md.
    """
    text = canonical_json(profile)
    if text not in _KNOWN:
        rules = hashlib.sha256(text).digest()
        bound = (
            length_prefixed("dealtable/profile/1")
            + length_prefixed(rules)
            + length_prefixed(page_hash(profile))
        )
        _KNOWN[text] = hashlib.sha256(bound).digest()
    return _KNOWN[text]


def page_hash(profile: Profile) -> bytes:
    """Return the SHA-256 hash of the regulations page as plain text."""
    return hashlib.sha256(regulations_text(profile).encode()).digest()


def regulations_text(profile: Profile) -> str:
    """Return the regulations page for one profile, as text.

    It includes the regulations of the profile's event if there are any.
    """
    return "".join(f"{line}\n" for line in _page_lines(profile))


def _page_lines(profile: Profile) -> PageLines:
    found = regulations_to_settle(profile)
    yield from _hanging_lines(f"补充规定  Supplementary regulations  ({profile.name})")
    yield from _hanging_lines(profile.title_zh, profile.title_en)
    yield from _hanging_lines(profile.source)
    if profile.event is None:
        yield f"赛事 Event: {_BLANK}  主办方 Organizer: {_BLANK}"
    else:
        event = profile.event
        yield from _hanging_lines(f"赛事 Event: {event.title_zh}", event.title_en)
        yield from _hanging_lines(f"主办方 Organizer: {event.organizer}")
    yield from _hanging_lines(f"条文 articles: {found.cited.zh}  {found.cited.en}")
    yield from _section(
        "一",
        Words("Left to the event by the text", "规则留给本比赛规定的事项"),
        [*map(_point_item, found.left), *map(_matter_item, found.matters)],
    )
    yield from _section(
        "二",
        Words("Provisional: the text is silent or unclear", "规则未载或不明而暂定的事项"),
        map(_point_item, found.provisional),
    )
    yield from _section(
        "三",
        Words(
            "Where the text has a rule: departures, and what the event says",
            "规则已有条文：偏离条文及本比赛另定的事项",
        ),
        map(_point_item, (*found.departs, *found.changed)),
    )
    yield from _section(
        "四",
        Words("Human acts that the machine replaces", "由发牌机代替的人工行为"),
        map(_act_item, found.acts),
    )
    yield from _section(
        "五",
        Words("Gaps of the text, and how unclear words are read", "规则的空缺及不明之处的理解"),
        map(_matter_item, found.gaps),
    )
    yield ""
    yield _RULE
    yield "主办方 Organizer  ____________________   日期 date ____________"
    yield "裁判长 Chief referee  ________________   日期 date ____________"


def _hanging_lines(*parts: str) -> PageLines:
    """Yield `parts` as the lines of one paragraph, with all lines after the first indented."""
    first, *more = pack(parts, WIDTH - len(_INDENT))
    yield first
    yield from (_INDENT + line for line in more)


def _section(number: str, title: Words, items: Iterable[PageItem]) -> PageLines:
    """Yield the lines of one section of the page: a heading and its numbered items."""
    yield ""
    yield from _hanging_lines(f"{number}、{title.zh}", title.en)
    yield _RULE
    n = 0
    for n, item in enumerate(items, start=1):
        lines = [line for row in item for line in pack(row, WIDTH - len(_INDENT))]
        yield f"{n:3}. {lines[0]}"
        yield from (_INDENT + line for line in lines[1:])
    if not n:
        yield f"{_INDENT}无 none"


def _point_item(point: RegulationPoint) -> PageItem:
    yield (*_both_languages(point.label), f"({point.key})")
    yield _both_languages(point.about)
    if point.remark:
        yield _both_languages(point.remark)
    if point.unset:
        yield f"→ 须填写 to be filled in: {_BLANK}", *_origin_marks(point)
    elif point.settled:
        yield _value_row(point.value)
        yield ("■ 已定 settled by the event",)
        if point.before is None or point.before == point.value:
            yield "与原值相同 as it was", _origin_text(point)
        else:
            zh, *en = _both_languages(point.before)
            yield f"原为 instead of: {zh}", *en, _origin_text(point)
    else:
        yield *_value_row(point.value), *_origin_marks(point)
        yield (f"□ 照此 as it stands   □ 改为 changed to: {_BLANK}",)


def _origin_marks(point: RegulationPoint) -> tuple[str, ...]:
    """Return notes on the source of a point's value, and on the article that leaves it open."""
    source = () if point.unset and point.article is None else (_origin_text(point),)
    if point.left_by is None:
        return source
    return *source, f"由补充规定确定 left to the event by {point.left_by}"


def _origin_text(point: RegulationPoint) -> str:
    if point.departs is not None:
        return f"【偏离条文 departs from {point.departs}】"
    return _PROVISIONAL if point.article is None else f"[{point.article}]"


def _act_item(act: ReplacedAct) -> PageItem:
    allowed = (
        "须由补充规定允许 needs these regulations"
        if act.allowed_by is None
        else f"规则允许 allowed by {act.allowed_by}"
    )
    yield _both_languages(act.title)
    yield f"人工 by people: {act.by.zh}", act.by.en, _article_text(act.article)
    yield f"机器 by the machine: {act.machine.zh}", act.machine.en
    yield f"□ {allowed}", f"({', '.join(act.keys)})"


def _matter_item(matter: OpenMatter) -> PageItem:
    keys = (f"({', '.join(matter.keys)})",) if matter.keys else ()
    yield *_both_languages(matter.what), _article_text(matter.article), *keys
    yield (f"规定 ruled: {_BLANK}",)


def _article_text(article: str) -> str:
    return f"[{article}]" if article else _SILENT


def _value_row(words: Words) -> tuple[str, ...]:
    first, *more = _both_languages(words)
    return f"→ {first}", *more


def _both_languages(words: Words) -> tuple[str, ...]:
    return (words.zh,) if words.zh == words.en else (words.zh, words.en)

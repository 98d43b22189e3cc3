"""The 补充规定 as a page to be signed, in Chinese and English, and the hash that binds it.

The page is plain text: what is printed is what is hashed, byte for byte (UTF-8, a line
feed after every line).
"""

import hashlib
from collections.abc import Iterable, Iterator

from controller.framing import canonical, lp
from controller.rules.keys import Words
from controller.rules.profile import Profile
from controller.rules.regulations import Act, Matter, Point, regulations

Lines = Iterator[str]

_RULE = "─" * 72
_SILENT = "[规则未载 the text is silent]"


def profile_hash(profile: Profile) -> bytes:
    """Return what commitments name a profile by: its rules and its page of regulations.

    SHA-256( L("dealtable/profile/1") ‖ L(SHA-256 of the profile as canonical JSON) ‖
    L(SHA-256 of the page) ), as controller/deal/PROOF.md says.
    """
    rules = hashlib.sha256(canonical(profile)).digest()
    return hashlib.sha256(lp("dealtable/profile/1") + lp(rules) + lp(page_hash(profile))).digest()


def page_hash(profile: Profile) -> bytes:
    """Return SHA-256 of the page as plain text."""
    return hashlib.sha256(page(profile).encode()).digest()


def page(profile: Profile) -> str:
    """Return the page for one profile, with its event's regulations if it has them."""
    return "".join(f"{line}\n" for line in _page(profile))


def _page(profile: Profile) -> Lines:
    found = regulations(profile)
    left = [*map(_point, found.left), *map(_matter, found.matters)]
    yield from _head(profile)
    yield f"条文 articles: {_both(found.cited)}"
    yield from _section(
        "一", Words("Left to the event by the text", "规则留给本比赛规定的事项"), left
    )
    yield from _section(
        "二",
        Words("Provisional: the text is silent or unclear", "规则未载或不明而暂定的事项"),
        map(_point, found.provisional),
    )
    yield from _section(
        "三",
        Words("Changed by the event against the text", "本比赛与规则不同的规定"),
        map(_point, found.changed),
    )
    yield from _section(
        "四",
        Words("Human acts that the machine replaces", "由发牌机代替的人工行为"),
        map(_act, found.acts),
    )
    yield from _section(
        "五",
        Words("Gaps of the text, and how unclear words are read", "规则的空缺及不明之处的理解"),
        map(_matter, found.gaps),
    )
    yield from _signatures()


def _head(profile: Profile) -> Lines:
    yield f"补充规定  Supplementary regulations  ({profile.name})"
    yield _both(Words(profile.title_en, profile.title_zh))
    yield profile.source
    if profile.event is None:
        yield "赛事 Event: ______________________  主办方 Organizer: ______________________"
    else:
        event = profile.event
        yield f"赛事 Event: {_both(Words(event.title_en, event.title_zh))}"
        yield f"主办方 Organizer: {event.organizer}"


def _section(number: str, title: Words, items: Iterable[tuple[str, ...]]) -> Lines:
    """One part of the page: its items, numbered, each a line with more below it."""
    yield ""
    yield f"{number}、{_both(title)}"
    yield _RULE
    n = 0
    for n, (first, *more) in enumerate(items, start=1):
        yield f"{n:3}. {first}"
        yield from (f"     {line}" for line in more)
    if not n:
        yield "     无 none"


def _point(point: Point) -> tuple[str, ...]:
    source = f"[{point.article}]" if point.article else "【暂定 provisional】"
    left = f"   由补充规定规定 left to the event by {point.left_by}" if point.left_by else ""
    if point.settled:
        state = "■ 已定 settled by the event"
        source = f"原为 instead of {source}"
    else:
        state = "□ 照此 as it stands   □ 改为 changed to: ____________________"
    return (
        f"{_both(point.label)}  ({point.key})",
        _both(point.about),
        f"→ {_both(point.value)}   {source}{left}",
        state,
    )


def _act(act: Act) -> tuple[str, ...]:
    article = f"[{act.article}]" if act.article else _SILENT
    allowed = (
        f"规则允许 allowed by {act.allowed_by}"
        if act.allowed_by
        else "须由补充规定允许 needs these regulations"
    )
    return (
        _both(act.title),
        f"人工 by people: {_both(act.by)}  {article}",
        f"机器 by the machine: {_both(act.machine)}",
        f"□ {allowed}   ({', '.join(act.keys)})",
    )


def _matter(matter: Matter) -> tuple[str, ...]:
    article = f"[{matter.article}]" if matter.article else _SILENT
    keys = f"  ({', '.join(matter.keys)})" if matter.keys else ""
    return (
        matter.what.zh,
        f"{matter.what.en}  {article}{keys}",
        "规定 ruled: ____________________",
    )


def _signatures() -> Lines:
    yield ""
    yield _RULE
    yield "主办方 Organizer  ____________________   日期 date ____________"
    yield "裁判长 Chief referee  ________________   日期 date ____________"


def _both(words: Words) -> str:
    return words.zh if words.zh == words.en else f"{words.zh}  {words.en}"

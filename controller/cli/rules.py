"""`dealtable rules`: the rulebooks, what an event has to settle, and where two differ."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from controller.cli import LineError
from controller.cli.rows import NARROW, Rows, console_of_any_width, show
from controller.framing import canonical
from controller.rules.keys import all_keys, idle, title, unset, value_words
from controller.rules.profile import Profile, rules_of
from controller.rules.regulations import regulations as to_settle
from controller.rules.regulations_page import page, page_hash, profile_hash
from controller.rules.rulebooks import called, load_profile, profile_names
from controller.rules.words import Words

_PROVISIONAL = "暂定 provisional"
_NO_EFFECT = "不适用 no effect here"
_SETTLED = "本比赛已定 settled by the event"
_EQUAL = "相同 no difference"

EPILOG = """\b
Examples:
  dealtable rules                                               the rulebooks
  dealtable rules international-000                             one, rule by rule
  dealtable rules international-000 --event event.toml          as an event has settled it
  dealtable rules international-000 --regulations > page.txt    what an event has to settle
  dealtable rules --diff international-000 huaian-2017-001      where two differ
"""


def _file(_ctx: click.Context, _option: click.Parameter, name: str | None) -> Path | None:
    if name == "":
        raise LineError("--event: no file given")
    return None if name is None else Path(name)


@click.command(epilog=EPILOG)
@click.argument("profile", required=False)
@click.option("--event", metavar="FILE", callback=_file, help="An event's regulations over it.")
@click.option("--regulations", is_flag=True, help="What an event has to settle: a page to sign.")
@click.option("--diff", nargs=2, metavar="A B", help="The keys in which two profiles differ.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(
    profile: str | None,
    event: Path | None,
    regulations: bool,
    diff: tuple[str, str] | None,
    as_json: bool,
) -> None:
    """List the rulebooks, or show PROFILE: every rule, where it is from, what is provisional."""
    _refuse_mixed(profile, event, regulations, diff)
    if diff:
        _differences(*(called(name) for name in diff), as_json=as_json)
    elif profile is None:
        _list(as_json)
    elif regulations:
        _regulations(called(profile, event), as_json)
    else:
        _show(called(profile, event), as_json)


def _refuse_mixed(
    profile: str | None, event: Path | None, regulations: bool, diff: tuple[str, str] | None
) -> None:
    if diff and (profile is not None or event or regulations):
        raise LineError("--diff A B stands alone: name no PROFILE, event or page beside it")
    if profile is None and (event or regulations):
        raise LineError(f"name a PROFILE: one of {', '.join(profile_names())}")


def _list(as_json: bool) -> None:
    profiles = [load_profile(name) for name in profile_names()]
    if as_json:
        _echo_json([_about(profile) for profile in profiles])
        return
    console = console_of_any_width()
    show(console, _stacked(profiles) if console.width < NARROW else [_listed(profiles)])


def _listed(profiles: list[Profile]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("profile", "规则 rulebook", "hash", _PROVISIONAL):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("profile", "hash"))
    for profile in profiles:
        table.add_row(profile.name, _titles(profile), _hash_begins(profile), _share(profile))
    return table


def _stacked(profiles: list[Profile]) -> Iterator[Text]:
    for profile in profiles:
        yield Text(f"{profile.name}\n{_titles(profile)}\nhash {_hash_begins(profile)}")
        yield Text(f"{_share(profile)} {_PROVISIONAL}\n")


def _titles(profile: Profile) -> str:
    return f"{profile.title_zh}\n{profile.title_en}"


def _hash_begins(profile: Profile) -> str:
    return profile_hash(profile).hex()[:16]


def _share(profile: Profile) -> str:
    return f"{len(profile.provisional)} / {len(rules_of(profile))}"


def _about(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title_en": profile.title_en,
        "title_zh": profile.title_zh,
        "hash": profile_hash(profile).hex(),
        "page_hash": page_hash(profile).hex(),
        "rules": len(rules_of(profile)),
        "provisional": len(profile.provisional),
    }


def _show(profile: Profile, as_json: bool) -> None:
    if as_json:
        click.echo(canonical(profile).decode(), nl=False)
        return
    show(console_of_any_width(), _whole(profile))


def _whole(profile: Profile) -> Iterator[RenderableType]:
    yield Text(f"{profile.title_zh}  {profile.title_en}", style="bold")
    yield Text(profile.source)
    if profile.event:
        yield Text(f"赛事 event: {profile.event.title_zh}  {profile.event.title_en}")
    yield Text(f"hash {profile_hash(profile).hex()}", overflow="fold")
    for heading, keys in _by_table(profile):
        yield Text(f"\n{heading.zh}  {heading.en}", style="bold cyan")
        yield Rows(((key, _value(profile, key), _source(profile, key)) for key in keys), (5, 3))


def _by_table(profile: Profile) -> Iterator[tuple[Words, list[str]]]:
    """Yield the title of each table with its keys."""
    tables: dict[tuple[str, str], list[str]] = {}
    for key in rules_of(profile):
        heading = title(key)
        tables.setdefault((heading.en, heading.zh), []).append(key)
    for (en, zh), keys in tables.items():
        yield Words(en, zh), keys


def _value(profile: Profile, key: str) -> Text:
    return _both(value_words(key, rules_of(profile)[key]))


def _source(profile: Profile, key: str) -> Text:
    """Where a value is from, and what is to be said about that."""
    text = _article(profile, key)
    if profile.event and profile.settled(key):
        before = value_words(key, profile.event.before[key])
        text.append(f"\n{_SETTLED}; 原为 instead of {before.zh}  {before.en}", style="dim")
    elif idle(profile, key):
        text.append(f"\n{_NO_EFFECT}", style="dim")
    elif key in profile.left_to_event:
        article = profile.left_to_event[key]
        text.append(f"\n由补充规定确定 left to the event, {article}", style="dim")
    if unset(key, rules_of(profile)[key]):
        text.append("\n须填写 to be filled in", style="yellow")
    return text


def _article(profile: Profile, key: str) -> Text:
    article = profile.article(key)
    if article is not None:
        return Text(article)
    if key in profile.departs:
        return Text(f"偏离条文 departs from {profile.departs[key]}", style="bold yellow")
    return Text(_PROVISIONAL, style="bold yellow")


def _regulations(profile: Profile, as_json: bool) -> None:
    """Print the page as it is hashed; the hashes go to stderr, so that a pipe has it whole."""
    if as_json:
        _echo_json(msgspec.to_builtins(_named(profile)))
        return
    click.echo(page(profile).encode(), nl=False)
    click.echo(f"page SHA-256 {page_hash(profile).hex()}", err=True)
    click.echo(f"profile hash {profile_hash(profile).hex()}", err=True)


def _named(profile: Profile) -> dict[str, Any]:
    return {**_about(profile), "regulations": to_settle(profile)}


def _differences(first: Profile, second: Profile, *, as_json: bool) -> None:
    rules = rules_of(first), rules_of(second)
    keys = [key for key in all_keys() if rules[0].get(key) != rules[1].get(key)]
    if as_json:
        _echo_json({key: _difference(key, first, second) for key in keys})
        return
    if not keys:
        click.echo(_EQUAL)
        return
    rows = ((key, _held(first, key), _held(second, key)) for key in keys)
    headings = ("规则 key", first.name, second.name)
    show(console_of_any_width(), [Rows(rows, (1, 1), headings)])


def _difference(key: str, *profiles: Profile) -> dict[str, Any]:
    """One key for programs: in words, and what each of the profiles that have it says."""
    label = all_keys()[key].label
    rules = {profile.name: rules_of(profile) for profile in profiles}
    return {
        "label_en": label.en,
        "label_zh": label.zh,
        **{
            profile.name: {
                "value": rules[profile.name][key],
                "article": profile.article(key),
                "provisional": key in profile.provisional,
            }
            for profile in profiles
            if key in rules[profile.name]
        },
    }


def _held(profile: Profile, key: str) -> Text:
    if key not in rules_of(profile):
        return Text("–")
    return _value(profile, key).append("\n").append_text(_article(profile, key))


def _both(words: Words) -> Text:
    return Text(words.zh if words.zh == words.en else f"{words.zh}  {words.en}")


def _echo_json(value: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())

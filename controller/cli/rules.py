"""`dealtable rules`: the rulebooks, what an event has to settle, and where two differ."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from controller.cli import LineError
from controller.framing import canonical
from controller.rules.keys import Words, all_keys, idle, title, value_words
from controller.rules.profile import Profile, rules_of
from controller.rules.regulations import regulations as to_settle
from controller.rules.regulations_page import page, page_hash, profile_hash
from controller.rules.rulebooks import load_profile, profile_names

_WIDTH = 110
"""Columns where no terminal says how many there are."""

_PROVISIONAL = "暂定 provisional"
_NO_EFFECT = "不适用 no effect here"


@click.command
@click.argument("profile", required=False)
@click.option("--event", type=click.Path(path_type=Path), help="An event's regulations over it.")
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
        _differences(*(load_profile(name) for name in diff), as_json=as_json)
    elif profile is None:
        _list(as_json)
    elif regulations:
        _regulations(load_profile(profile, event), as_json)
    else:
        _show(load_profile(profile, event), as_json)


def _refuse_mixed(
    profile: str | None, event: Path | None, regulations: bool, diff: tuple[str, str] | None
) -> None:
    if diff and (profile or event or regulations):
        raise LineError("--diff A B stands alone: name no PROFILE, event or page beside it")
    if profile is None and (event or regulations):
        raise LineError(f"name a PROFILE: one of {', '.join(profile_names())}")


def _list(as_json: bool) -> None:
    profiles = [load_profile(name) for name in profile_names()]
    if as_json:
        _echo_json([_about(profile) for profile in profiles])
        return
    table = Table("profile", "规则 rulebook", "hash", _PROVISIONAL, box=None, pad_edge=False)
    for profile in profiles:
        both = f"{profile.title_zh}\n{profile.title_en}"
        count = f"{len(profile.provisional)} / {len(rules_of(profile))}"
        table.add_row(profile.name, both, profile_hash(profile).hex()[:16], count)
    _console().print(table)


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
    console = _console()
    console.print(Text(f"{profile.title_zh}  {profile.title_en}", style="bold"))
    console.print(Text(profile.source))
    if profile.event:
        console.print(Text(f"赛事 event: {profile.event.title_zh}  {profile.event.title_en}"))
    console.print(Text(f"hash {profile_hash(profile).hex()}"), soft_wrap=True)
    for heading, keys in _by_table(profile):
        console.print()
        console.print(Text(f"{heading.zh}  {heading.en}", style="bold cyan"))
        console.print(_table(profile, keys))


def _by_table(profile: Profile) -> Iterator[tuple[Words, list[str]]]:
    """Yield the title of each table with its keys."""
    tables: dict[tuple[str, str], list[str]] = {}
    for key in rules_of(profile):
        heading = title(key)
        tables.setdefault((heading.en, heading.zh), []).append(key)
    for (en, zh), keys in tables.items():
        yield Words(en, zh), keys


def _table(profile: Profile, keys: list[str]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, expand=True)
    for ratio in (5, 5, 3):
        table.add_column(ratio=ratio, overflow="fold")
    rules = rules_of(profile)
    for key in keys:
        label, value = all_keys()[key].label, value_words(key, rules[key])
        table.add_row(
            Text.assemble(f"{label.zh}  {label.en}\n", (key, "dim")),
            _both(value),
            _source(profile, key),
        )
    return table


def _source(profile: Profile, key: str) -> Text:
    article = profile.article(key)
    text = Text(article) if article else Text(_PROVISIONAL, style="bold yellow")
    if idle(profile, key):
        text.append(f"\n{_NO_EFFECT}", style="dim")
    elif key in profile.left_to_event:
        text.append(f"\n由规程定 left to the event, {profile.left_to_event[key]}", style="dim")
    return text


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
        _echo_json(
            {
                key: {
                    profile.name: {"value": held.get(key), "article": profile.article(key)}
                    for profile, held in zip((first, second), rules, strict=True)
                    if key in held
                }
                for key in keys
            }
        )
        return
    table = Table(box=None, pad_edge=False, expand=True)
    for heading in ("规则 key", first.name, second.name):
        table.add_column(heading, ratio=1, overflow="fold")
    for key in keys:
        label = all_keys()[key].label
        table.add_row(
            Text.assemble(f"{label.zh}  {label.en}\n", (key, "dim")),
            *(_held(profile, key) for profile in (first, second)),
        )
    _console().print(table)


def _held(profile: Profile, key: str) -> Text:
    rules = rules_of(profile)
    if key not in rules:
        return Text("–")
    text = _both(value_words(key, rules[key]))
    article = profile.article(key)
    text.append(f"\n{article or _PROVISIONAL}", style="dim" if article else "yellow")
    return text


def _both(words: Words) -> Text:
    return Text(words.zh if words.zh == words.en else f"{words.zh}  {words.en}")


def _echo_json(value: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)

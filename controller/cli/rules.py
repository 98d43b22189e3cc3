"""`dealtable rules`: a list of the rulebooks, all rules of one rulebook, or a comparison of two."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from controller.cli import CliError
from controller.rules.key_text import all_keys, has_no_effect, is_unset, table_title, value_words
from controller.rules.profile import Profile, rules_by_key
from controller.rules.profile_files import find_profile, load_profile, profile_names
from controller.rules.regulations import regulations_to_settle as to_settle
from controller.rules.regulations_page import page_hash, profile_hash, regulations_text
from controller.signing import canonical_json
from controller.words import Words

_DEFAULT_WIDTH = 110
"""Width in columns if neither a terminal nor COLUMNS gives it."""
MIN_TABLE_WIDTH = 76
"""Minimum width of the output, in columns, at which rules and rulebooks are shown as a table."""

RuleRow = tuple[str, Text, Text]
"""A key, and the two texts that are shown beside it."""


class RuleRows:
    """Rules that rich prints in three columns, or as a list on a narrow terminal.

    `ratios` are the relative widths of the two columns beside the key.
    """

    def __init__(
        self, rows: Iterable[RuleRow], ratios: tuple[int, int], headings: Sequence[str] = ()
    ) -> None:
        """Store the rows, widths and headings. `headings` has three titles, or is empty."""
        self._rows = list(rows)
        self._ratios = ratios
        self._headings = tuple(headings)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a rich `Table`, or on a narrow terminal each key with its two texts below it."""
        if options.max_width >= MIN_TABLE_WIDTH:
            yield self._table(options.max_width)
            return
        for key, *beside in self._rows:
            yield _format_key(key)
            for heading, text in zip(self._headings[1:] or ("", ""), beside, strict=True):
                if heading:
                    yield Text(f"  {heading}:", style="dim")
                yield Padding(text, (0, 0, 0, 2))

    def _table(self, width: int) -> Table:
        """Return the rows as a rich `Table`. The first column has room for the longest key."""
        table = Table(box=None, show_header=bool(self._headings), pad_edge=False, expand=True)
        first, *others = self._headings or ("", "", "")
        share = max(self._ratios) * width // (max(self._ratios) + sum(self._ratios))
        longest = max(len(key) for key, *_ in self._rows)
        table.add_column(first, width=max(longest, share), overflow="fold")
        for heading, ratio in zip(others, self._ratios, strict=True):
            table.add_column(heading, ratio=ratio, overflow="fold")
        for key, *beside in self._rows:
            table.add_row(_format_key(key), *beside)
        return table


def _format_key(key: str) -> Text:
    label = all_keys()[key].label
    return Text.assemble(f"{label.zh}  {label.en}\n", (key, "dim"))


def make_rich_console() -> Console:
    """Return a rich `Console`: its width is $COLUMNS, else the terminal's, else _DEFAULT_WIDTH."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return Console(width=int(told))
    console = Console()
    return console if console.is_terminal else Console(width=_DEFAULT_WIDTH)


def print_renderables(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print `parts` in order with rich. Output to a file or pipe has no spaces at line ends."""
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    text = captured.get()
    if not console.is_terminal:
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    click.echo(text, nl=False, color=console.is_terminal)


_PROVISIONAL = "暂定 provisional"

EPILOG = """\b
Examples:
  dealtable rules                                               the rulebooks
  dealtable rules international-000                             one, rule by rule
  dealtable rules international-000 --event event.toml          as an event has settled it
  dealtable rules international-000 --regulations > page.txt    what an event has to settle
  dealtable rules --diff international-000 huaian-2017-001      where two differ
"""


def _parse_event_path(
    _ctx: click.Context, _option: click.Parameter, name: str | None
) -> Path | None:
    if name == "":
        raise CliError("--event: no file given")
    return None if name is None else Path(name)


@click.command(epilog=EPILOG)
@click.argument("profile", required=False)
@click.option(
    "--event", metavar="FILE", callback=_parse_event_path, help="An event's regulations over it."
)
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
    """List the rulebooks, or show every rule of the rulebook PROFILE: its value, its source, and
    whether it is provisional.
    """
    if diff and (profile is not None or event or regulations):
        raise CliError("--diff A B cannot be combined with a PROFILE, event or page")
    if profile is None and (event or regulations):
        raise CliError(f"name a PROFILE: one of {', '.join(profile_names())}")
    if diff:
        _print_differences(*(find_profile(name) for name in diff), as_json=as_json)
    elif profile is None:
        _print_list(as_json)
    elif regulations:
        _print_regulations(find_profile(profile, event), as_json)
    elif as_json:
        click.echo(canonical_json(find_profile(profile, event)).decode(), nl=False)
    else:
        print_renderables(make_rich_console(), _rulebook_parts(find_profile(profile, event)))


def _print_list(as_json: bool) -> None:
    profiles = [load_profile(name) for name in profile_names()]
    if as_json:
        _print_json([_rulebook_data(profile) for profile in profiles])
        return
    console = make_rich_console()
    table = Table(box=None, pad_edge=False)
    for heading in ("profile", "规则 rulebook", "hash", _PROVISIONAL):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("profile", "hash"))
    blocks = []
    for profile in profiles:
        name, titles = profile.name, f"{profile.title_zh}\n{profile.title_en}"
        prefix = profile_hash(profile).hex()[:16]
        share = f"{len(profile.provisional)} / {len(rules_by_key(profile))}"
        table.add_row(name, titles, prefix, share)
        blocks.append(Text(f"{name}\n{titles}\nhash {prefix}\n{share} {_PROVISIONAL}\n"))
    print_renderables(console, blocks if console.width < MIN_TABLE_WIDTH else [table])


def _rulebook_data(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "title_en": profile.title_en,
        "title_zh": profile.title_zh,
        "hash": profile_hash(profile).hex(),
        "page_hash": page_hash(profile).hex(),
        "rules": len(rules_by_key(profile)),
        "provisional": len(profile.provisional),
    }


def _rulebook_parts(profile: Profile) -> Iterator[RenderableType]:
    yield Text(f"{profile.title_zh}  {profile.title_en}", style="bold")
    yield Text(profile.source)
    if profile.event:
        yield Text(f"赛事 event: {profile.event.title_zh}  {profile.event.title_en}")
    yield Text(f"hash {profile_hash(profile).hex()}", overflow="fold")
    tables: dict[Words, list[str]] = {}
    for key in rules_by_key(profile):
        tables.setdefault(table_title(key), []).append(key)
    for heading, keys in tables.items():
        yield Text(f"\n{heading.zh}  {heading.en}", style="bold cyan")
        rows = [(key, _format_value(profile, key), _format_source(profile, key)) for key in keys]
        yield RuleRows(rows, (5, 3))


def _format_value(profile: Profile, key: str) -> Text:
    words = value_words(key, rules_by_key(profile)[key])
    return Text(words.zh if words.zh == words.en else f"{words.zh}  {words.en}")


def _format_source(profile: Profile, key: str) -> Text:
    """Return a rule's source with remarks, for example that the event has settled the rule."""
    text = _format_article(profile, key)
    if profile.event and profile.is_settled(key):
        before = value_words(key, profile.event.before[key])
        settled = f"本比赛已定 settled by the event; 原为 instead of {before.zh}  {before.en}"
        text.append(f"\n{settled}", style="dim")
    elif has_no_effect(profile, key):
        text.append("\n不适用 no effect here", style="dim")
    elif key in profile.left_to_event:
        article = profile.left_to_event[key]
        text.append(f"\n由补充规定确定 left to the event, {article}", style="dim")
    if is_unset(key, rules_by_key(profile)[key]):
        text.append("\n须填写 to be filled in", style="yellow")
    return text


def _format_article(profile: Profile, key: str) -> Text:
    if (article := profile.article(key)) is not None:
        return Text(article)
    if key in profile.departs:
        return Text(f"偏离条文 departs from {profile.departs[key]}", style="bold yellow")
    return Text(_PROVISIONAL, style="bold yellow")


def _print_regulations(profile: Profile, as_json: bool) -> None:
    """Print the rules that a tournament must settle: as a page, or with `as_json` as JSON.

    The page is printed without any change, so that a person can compute its hash from the output.
    The hashes go to stderr, so that a pipe gets only the page.
    """
    if as_json:
        _print_json(_rulebook_data(profile) | {"regulations": to_settle(profile)})
        return
    click.echo(regulations_text(profile).encode(), nl=False)
    click.echo(f"page SHA-256 {page_hash(profile).hex()}", err=True)
    click.echo(f"profile hash {profile_hash(profile).hex()}", err=True)


def _print_differences(first: Profile, second: Profile, *, as_json: bool) -> None:
    rules = rules_by_key(first), rules_by_key(second)
    keys = [key for key in all_keys() if rules[0].get(key) != rules[1].get(key)]
    if as_json:
        _print_json({key: _difference_data(key, first, second) for key in keys})
        return
    if not keys:
        click.echo("相同 no difference")
        return
    rows = (
        (key, _format_compared_value(first, key), _format_compared_value(second, key))
        for key in keys
    )
    headings = ("规则 key", first.name, second.name)
    print_renderables(make_rich_console(), [RuleRows(rows, (1, 1), headings)])


def _difference_data(key: str, *profiles: Profile) -> dict[str, Any]:
    """Return a rule's labels, and the rule's value and source in each profile that has the rule."""
    label = all_keys()[key].label
    rules = {profile.name: rules_by_key(profile) for profile in profiles}
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


def _format_compared_value(profile: Profile, key: str) -> Text:
    if key not in rules_by_key(profile):
        return Text("–")
    return _format_value(profile, key).append("\n").append_text(_format_article(profile, key))


def _print_json(value: object) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())

"""`dealtable judge`: which combination a play is, and whether it may follow another play."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from controller.cli import CliError
from controller.cli.options import ANY_PATH, language_option
from controller.faults import Language
from controller.rules.combos.card_tokens import QuestionError
from controller.rules.combos.combo_judge import judge_contained_kinds, judge_play
from controller.rules.combos.combo_rules import CitedRule
from controller.rules.combos.play_notation import parse_typed_level
from controller.rules.combos.play_ruling import (
    ComboReading,
    ContainedKinds,
    JudgedPlay,
    PlayRuling,
    reading_text,
)
from controller.rules.profile_files import UnknownProfile, find_profile


def format_answer(answer: ContainedKinds | PlayRuling) -> Iterator[str]:
    """Yield lines for people about `answer`: the result, the reasons, and the combinations that
    each play can form.
    """
    contained = isinstance(answer, ContainedKinds)
    yield f"{answer.play} contains: {answer.en}" if contained else answer.en
    yield f"{answer.play} 含有：{answer.zh}" if contained else answer.zh
    yield from map(_format_reason, answer.reasons)
    for judged in () if isinstance(answer, ContainedKinds) else (answer.table, answer.play):
        if judged is not None:
            yield ""
            yield from _format_play(judged)


def _format_play(judged: JudgedPlay) -> Iterator[str]:
    declared = judged.declared
    said = f"  (declared {declared.en} 说明为{declared.zh})" if declared else ""
    due = "  (to be declared at once 须说明)" if judged.declaration_due else ""
    yield f"{judged.play}{said}{due}"
    alike = Counter(map(_deciding_fields, judged.readings))
    folded = set[tuple[str, str]]()
    for reading in judged.readings:
        counts, what = reading == judged.counts_as, _deciding_fields(reading)
        if counts or alike[what] == 1:
            yield f"  {'*' if counts else ' '} {reading_text(reading)}  {reading.zh}"
        elif what not in folded:
            folded.add(what)
            other = judged.counts_as is not None and _deciding_fields(judged.counts_as) == what
            any_en, any_zh = ("any other", "另一") if other else ("any", "任意一")
            yield (
                f"    {reading.en} with {any_en} pair but {reading.decides}  "
                f"{reading.zh}（带{reading.decides}以外的{any_zh}对）"
            )
    yield from map(_format_reason, judged.reasons)


def _deciding_fields(reading: ComboReading) -> tuple[str, str]:
    """Return a combination's kind, and the rank that decides between two combinations of this kind.

    Full houses that differ only in the pair have the same values.
    """
    return reading.kind, reading.decides


def _format_reason(reason: CitedRule) -> str:
    mark = "" if not reason.provisional or "provisional" in reason.article else " (provisional)"
    mark += " 暂定" if reason.provisional else ""
    return f"  {reason.article}{mark}: {reason.en} · {reason.zh}"


_NOT_DECLARED = "-"

_EPILOG = """\
\b
Examples:
  dealtable judge --level 2 "KK66 H2"
  dealtable judge --level 2 33366 44455
  dealtable judge --level 10 "♦789J H10" --declare straight
  dealtable judge --level 2 34567 "4567 H2" --declare 34567
  dealtable judge --level 5 "999J" --contained
  dealtable judge --profile bigtwo-2017-002 "S3 H3" "♠2♦2"
"""


@click.command(epilog=_EPILOG)
@click.argument("plays", nargs=-1, required=True, metavar="PLAY [PLAY]")
@click.option(
    "--profile",
    default="international-000",
    show_default=True,
    metavar="NAME",
    help="The rulebook to go by; the beginning of its name is enough.",
)
@click.option("--event", type=ANY_PATH, help="An event's regulations over it.")
@click.option("--level", metavar="L", help="The level played: 2…10, J, Q, K, A. Not in Big Two.")
@click.option(
    "--declare",
    "declared",
    multiple=True,
    metavar="KIND|RANKS",
    help="What the last PLAY was declared to be: plate, 34567, 3-7. Given twice: what each was; "
    f'"{_NOT_DECLARED}" for nothing.',
)
@click.option("--contained", is_flag=True, help="List the kinds that one exposed PLAY contains.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object.")
@language_option("a question without sense")
def command(
    plays: tuple[str, ...],
    profile: str,
    event: Path | None,
    level: str | None,
    declared: tuple[str, ...],
    contained: bool,
    as_json: bool,
    language: Language,
) -> None:
    """Print which combination of cards a PLAY is.

    With two, print whether the second is legal on the first, and why.

    Many spellings of cards are accepted: 10 or T, suits as letters or signs before or after their
    cards or not at all, jokers BJ and SJ. A suit covers the run it touches: ♦789J. SJ is the small
    joker (小王); the jack of spades is ♠J or JS. In Big Two, which has no jokers, it is SJ too. A
    wild card is a heart of the level that is written as one.

    Exit 0: legal, 1: not legal, 2: a question that makes no sense.
    """
    try:
        _check_play_count(plays, declared, contained)
        played = None if level is None else parse_typed_level(level)
        rules = find_profile(profile, event)
        answer: ContainedKinds | PlayRuling
        if contained:
            answer = judge_contained_kinds(rules, played, plays[0])
        else:
            said = [None if word == _NOT_DECLARED else word for word in declared]
            on_said, own_said = [None, None, *said][-2:]
            on = plays[0] if len(plays) > 1 else None
            answer = judge_play(rules, played, plays[-1], on, own_said, on_said)
    except (QuestionError, UnknownProfile) as mistake:
        raise CliError(getattr(mistake.words, language)) from None
    click.echo(msgspec.json.encode(answer) if as_json else "\n".join(format_answer(answer)))
    if isinstance(answer, PlayRuling) and not answer.legal:
        raise SystemExit(1)


def _check_play_count(plays: tuple[str, ...], declared: tuple[str, ...], contained: bool) -> None:
    """Raise QuestionError if there are too many plays, or more declarations than are allowed."""
    most = 1 if contained else 2
    if len(plays) > most:
        raise QuestionError(
            f"{len(plays)} plays: expected {'one' if contained else 'one or two'}; "
            'put a play with blanks in quotes, as in "KK66 H2"',
            f"写了{len(plays)}手牌，应为{'一手' if contained else '一手或两手'}；"
            '中间有空格的一手牌须加引号，如 "KK66 H2"',
        )
    if contained and declared:
        raise QuestionError(
            "--contained asks what the cards may be: leave out --declare",
            "--contained 问的是牌张含有哪些牌型：请去掉 --declare",
        )
    if len(declared) > len(plays):
        raise QuestionError(
            f"{len(declared)} declarations: expected one a play at most",
            f"写了{len(declared)}个说明：每手牌至多一个",
        )

"""`dealtable judge`: a referee's question on combinations."""

from pathlib import Path

import click
import msgspec

from controller.cli import CliError
from controller.cli.judge_text import format_answer
from controller.faults import Language
from controller.rules.combos.judge import judge_contained_kinds, judge_play
from controller.rules.combos.nonsense import QuestionError
from controller.rules.combos.notation import parse_typed_level
from controller.rules.combos.ruling import ContainedKinds, PlayRuling
from controller.rules.profile import Profile
from controller.rules.rulebooks import UnknownProfile, find_profile

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
@click.option("--event", type=click.Path(path_type=Path), help="An event's regulations over it.")
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
@click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="Of a question without sense. 中文用 zh.",
)
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
    """Say what a PLAY is, or whether the second PLAY is legal on the first, and why.

    Write cards without thinking: 10 or T, suits as letters or signs before or behind
    their cards or not at all, jokers BJ and SJ. A suit covers the run it touches: ♦789J.
    SJ is the small joker (小王); the jack of spades is ♠J or JS. In Big Two, which has no
    jokers, it is SJ too. A wild card is a heart of the level that is written as one.

    Exit 0: legal, 1: not legal, 2: a question without sense.
    """
    try:
        _check_play_count(plays, declared, contained)
        played = None if level is None else parse_typed_level(level)
        rules = find_profile(profile, event)
        answer: ContainedKinds | PlayRuling
        if contained:
            answer = judge_contained_kinds(rules, played, plays[0])
        else:
            answer = _judge_plays(rules, played, plays, declared)
    except (QuestionError, UnknownProfile) as mistake:
        raise CliError(getattr(mistake.words, language)) from None
    click.echo(msgspec.json.encode(answer) if as_json else "\n".join(format_answer(answer)))
    if isinstance(answer, PlayRuling) and not answer.legal:
        raise SystemExit(1)


def _check_play_count(plays: tuple[str, ...], declared: tuple[str, ...], contained: bool) -> None:
    """Refuse more than can be judged together. Raises Nonsense."""
    most = 1 if contained else 2
    if len(plays) > most:
        raise QuestionError(
            f"{len(plays)} plays: expected {'one' if contained else 'one or two'}; "
            'a play with blanks in it stands in quotes, as in "KK66 H2"',
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


def _judge_plays(
    profile: Profile, level: int | None, plays: tuple[str, ...], declared: tuple[str, ...]
) -> PlayRuling:
    said = [None if word == _NOT_DECLARED else word for word in declared]
    on_said, own_said = [None, None, *said][-2:]
    on = plays[0] if len(plays) > 1 else None
    return judge_play(profile, level, plays[-1], on, own_said, on_said)

"""What `dealtable send` teaches of the commands, and how it reads what is typed."""

import json
import re
import shlex
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner, Result

from controller.cards import composition, parse_face
from controller.cli import main
from controller.cli.command_help import GROUPS, format_example
from controller.cli.send import parse_arguments
from controller.commands.registry import COMMANDS, parse_args
from controller.faults import Language
from controller.messages import Role
from controller.rules.combos.play_notation import parse_play


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["send", *words])


def test_the_help_lists_every_command_once_with_what_it_does() -> None:
    rows = [line for line in run("--help").stdout.splitlines() if line.startswith("    ")]
    for cmd, order in COMMANDS.items():
        named = [row for row in rows if row.split()[0] == cmd]
        assert len(named) == 1, cmd
        assert named[0].endswith(order.help)


def test_every_command_is_in_a_group_of_those_who_may_give_it() -> None:
    assert {order.roles for order in COMMANDS.values()} == set(GROUPS.values())
    shown = run("--help").stdout
    assert all(f"{title}:" in shown for title in GROUPS)


def test_the_example_of_a_command_is_one_that_may_be_sent(subtests: pytest.Subtests) -> None:
    for cmd in COMMANDS:
        with subtests.test(cmd):
            words = shlex.split(format_example(cmd))
            assert words[:3] == ["dealtable", "send", cmd]
            options = words.index("--as") if "--as" in words else words.index("--state-dir")
            parse_args(cmd, parse_arguments(cmd, words[3:options]))
            if COMMANDS[cmd].signed:
                assert Role(words[options + 1]) in COMMANDS[cmd].roles


def test_about_a_command_says_what_it_takes_and_who_may_give_it(subtests: pytest.Subtests) -> None:
    for cmd in COMMANDS:
        with subtests.test(cmd):
            shown = run("--about", cmd)
            assert shown.exit_code == 0
            for said in (
                *COMMANDS[cmd].args.__struct_fields__,
                *COMMANDS[cmd].roles,
                COMMANDS[cmd].help,
            ):
                assert said in shown.stdout
            assert format_example(cmd) in shown.stdout


def test_about_the_cut_shows_its_phase_and_what_it_is_bound_to() -> None:
    assert run("--about", "cut").stdout.splitlines() == [
        "cut n [seat]: cut the set (切牌)",
        "",
        "  The number `n` of cards that a cut takes from the top, and the seat that cut, if known.",
        "",
        "  n                   a number of cards, in most rulebooks from 6 to 102",
        '  seat                a seat: "N", "W", "S" or "E" (may be left out)',
        "",
        "Roles:   table, referee, chief",
        "Phases:  of the machine: committed",
        "About:   the deal and attempt that the machine has under way",
        "Example: dealtable send cut n=40 --as table --state-dir state",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--about", "cutt"], "did you mean cut?"),
        (["--about", "zzzz"], "--help lists them"),
        ([], "Missing argument 'CMD'"),
        (["snapshot"], "Missing option '--state-dir'"),
        (["--language", "zh"], "缺少命令"),
        (["--language", "zh", "snapshot"], "缺少 --state-dir"),
        (["--language", "zh", "--about", "cutt"], "是否为 cut？"),
        (["--language", "zh", "--about", "zzzz"], "--help 列出全部命令"),
        (["--language", "zh", "zzzz", "--state-dir", "s"], "若本台有此命令"),
        (["--language", "zh", "cut", "--state-dir", "s"], "cut 须签名"),
        (["--language", "zh", "cut", "n", "--as", "table", "--state-dir", "s"], "NAME=VALUE（"),
        (["--language", "zh", "snapshot", "--person", "()", "--state-dir", "s"], "不含括号"),
    ],
)
def test_what_is_called_wrongly_ends_with_2(words: list[str], said: str) -> None:
    shown = run(*words)
    assert (shown.exit_code, said in shown.stderr) == (2, True)


@pytest.mark.parametrize(
    ("cmd", "word", "value"),
    [
        ("cut", "n=40", 40),
        ("set_match", "table_no=7", "7"),
        ("seat", "person=true", "true"),
        ("hold", "reason=the lid = open", "the lid = open"),
        ("hold", "area=true", True),
        ("result", "order=N,W,S", ["N", "W", "S"]),
        ("result", 'order=["N","S"]', ["N", "S"]),
        ("redeal", "by=5", "5"),
        ("sing", "n=40", 40),
        ("cut", "m=forty", "forty"),
    ],
)
def test_a_value_is_text_where_a_command_takes_text(cmd: str, word: str, value: Any) -> None:
    assert parse_arguments(cmd, [word]) == {word.partition("=")[0]: value}


CARDS = {
    ("turned_up", "card"),
    ("tribute", "card"),
    ("tribute", "other"),
    ("return", "card"),
    ("hands_dealt", "turned_up"),
}


@pytest.mark.parametrize(("cmd", "name"), sorted(CARDS))
@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("大点", "BJ"),
        ("小点", "SJ"),
        ("大王", "BJ"),
        ("小王", "SJ"),
        ("红桃5", "♥5"),
        ("红心5", "♥5"),
        ("黑桃10", "♠10"),
        ("JS", "♠J"),
        ("10S", "♠10"),
        ("Big Joker", "BJ"),
        ("ｓ１０", "♠10"),
        ("SJ", "SJ"),
        ("SK", "SK"),
        ("♥10", "♥10"),
    ],
)
def test_a_card_is_written_as_in_a_play(cmd: str, name: str, said: str, sent: str) -> None:
    assert parse_arguments(cmd, [f"{name}={said}"]) == {name: sent}
    assert parse_face(sent) == parse_play(said, None, composition(2, jokers=True)).faces[0]


def test_every_argument_that_is_one_card_is_read_as_a_card() -> None:
    schemas = {cmd: msgspec.json.schema(order.args) for cmd, order in COMMANDS.items()}
    called = {
        (cmd, name)
        for cmd, schema in schemas.items()
        for name, field in schema["$defs"][COMMANDS[cmd].args.__name__]["properties"].items()
        if '"a card, ' in json.dumps(field)
    }
    assert called == CARDS


@pytest.mark.parametrize(
    ("said", "language", "told"),
    [
        ("5", "en", "'5': write one card with its suit"),
        ("5", "zh", "'5'：请写一张牌并写明花色"),
        ("♠5 ♥5", "en", "write one card with its suit"),
        ("王炸", "zh", "请写一张牌并写明花色"),
        ("X", "en", "no such card"),
        ("红桃1", "zh", "没有这张牌"),
        ("王", "zh", "哪张王？"),
        ("逢人配", "zh", "请写牌张本身"),
        ("", "zh", "未写牌"),
    ],
)
def test_what_is_not_one_card_is_refused_before_it_is_sent(
    said: str, language: Language, told: str
) -> None:
    with pytest.raises(click.UsageError, match=re.escape(told)):
        parse_arguments("turned_up", [f"card={said}"], language)


@pytest.mark.parametrize("word", ["forty", "=40"])
def test_a_word_without_a_name_is_bad_usage(word: str) -> None:
    with pytest.raises(click.UsageError, match="NAME=VALUE"):
        parse_arguments("cut", [word])


@pytest.mark.parametrize(
    "said",
    [
        "play_out_of_turn",
        "play out of turn",
        "Play out of turn",
        "越序出牌",
        "ｐｌａｙ_out_of_turn",
    ],
)
def test_an_offence_may_be_named_as_it_is_called(said: str) -> None:
    assert parse_arguments("propose", [f"offence={said}"]) == {"offence": "play_out_of_turn"}
    assert parse_arguments("hold", [f"reason={said}"]) == {"reason": said}


@pytest.mark.parametrize(
    ("said", "id_"),
    [
        ("领出牌方出错牌（含带下暴露张）", "wrong_play_leader"),
        ("领出牌方出错牌(含带下暴露张)", "wrong_play_leader"),
        (" 领出牌方出错牌 (含带下暴露张) ", "wrong_play_leader"),
        ("领出牌方出错牌", "wrong_play_leader"),
        ("越序表态", "declare_out_of_turn"),
        ("贡错牌(比赛开始前发现)", "wrong_tribute"),
        ("贡错牌 （比赛开始后发现）", "wrong_tribute_in_play"),
    ],
)
def test_an_offence_may_be_named_with_any_brackets_or_without_them(said: str, id_: str) -> None:
    assert parse_arguments("propose", [f"offence={said}"]) == {"offence": id_}


def test_a_name_that_two_offences_have_without_their_brackets_is_asked_back() -> None:
    told = r"wrong_tribute \(贡错牌（比赛开始前发现）\)、wrong_tribute_in_play"
    with pytest.raises(click.UsageError, match=told):
        parse_arguments("propose", ["offence=贡错牌"], "zh")


def test_an_offence_that_is_like_none_here_is_the_tables_business() -> None:
    assert parse_arguments("forfeit", ["offence=zzzz_zzzz"]) == {"offence": "zzzz_zzzz"}


@pytest.mark.parametrize(
    ("said", "language", "told"),
    [
        ("no_reprt", "en", r"no offence is called 'no_reprt': no_report \("),
        ("越序出排", "zh", r"没有名为 '越序出排' 的违例事项：play_out_of_turn \(越序出牌\)"),
        ("?", "en", "--about propose lists them"),
        ("?", "zh", "--about propose 列出全部"),
    ],
)
def test_an_offence_that_there_is_not_is_refused_with_those_that_are_like_it(
    said: str, language: Language, told: str
) -> None:
    with pytest.raises(click.UsageError, match=told):
        parse_arguments("propose", [f"offence={said}"], language)


@pytest.mark.parametrize(("language", "called"), [("en", "play out of turn"), ("zh", "越序出牌")])
def test_about_a_charge_lists_the_offences_by_id_and_name(language: str, called: str) -> None:
    for cmd in ("propose", "rulings", "forfeit"):
        lines = run("--about", cmd, "--language", language).stdout.splitlines()
        assert f"  {'play_out_of_turn':<28}{called}" in lines

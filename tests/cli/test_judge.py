import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from controller.cli import main


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["judge", *words])


def test_a_legal_play_exits_0_and_says_why_in_both_languages() -> None:
    told = run("--level", "2", "33366", "44455")
    assert told.exit_code == 0
    first, second, why, *_ = told.stdout.splitlines()
    assert first == "legal: full house 4 4 4 5 5 beats full house 3 3 3 6 6"
    assert second == "合法：三带对 4 4 4 5 5 可压 三带对 3 3 3 6 6"
    assert why.startswith("  000 A8.3: in a full house the triple decides · 三带对")


def test_a_play_that_is_not_legal_exits_1() -> None:
    told = run("--level", "2", "44455", "33366")
    assert (told.exit_code, told.stderr) == (1, "")
    assert told.stdout.startswith("not legal: ")


def test_readings_are_listed_and_the_one_that_counts_is_marked() -> None:
    told = run("--level", "2", "KK66 H2", "--declare", "666KK")
    said = "(declared 6 6 6 K K 说明为6 6 6 K K)  (to be declared at once 须说明)"
    assert f"K K 6 6 ♥2  {said}\n" in told.stdout
    assert "    full house 6 6 K K K(♥2)  三带对\n" in told.stdout
    assert "  * full house 6 6 6(♥2) K K  三带对\n" in told.stdout


def test_the_beginning_of_a_rulebooks_name_is_enough() -> None:
    whole = run("--level", "2", "--profile", "bcta-004", "3333333 H2H2")
    assert run("--level", "2", "--profile", "bcta", "3333333 H2H2").stdout == whole.stdout
    told = run("--level", "2", "--profile", "hua", "33")
    assert told.exit_code == 2
    assert told.stderr == 'Error: profile "hua": huaian-2017-001 or huainan-2013-003?\n'


def test_what_is_provisional_is_marked() -> None:
    told = run("--level", "2", "--profile", "bcta-004", "3333333 H2H2")
    assert "  000 A4.8 (provisional) 暂定: a bomb may have nine or ten" in told.stdout
    assert "  004 CN3: four or more of one rank" in told.stdout


@pytest.mark.parametrize("play", ["3 参谋", "参谋参谋参谋", "红心参谋", "黑桃参谋"])
def test_a_card_of_the_level_is_ruled_on_as_its_rank(play: str) -> None:
    told = run("--level", "5", play, "--json")
    assert told.stdout == run("--level", "5", play.replace("参谋", "5"), "--json").stdout
    assert told.exit_code == (1 if play == "3 参谋" else 0)


def test_json_is_one_object() -> None:
    told = run("--level", "10", "A", "10", "--json")
    ruling = json.loads(told.stdout)
    assert (told.exit_code, ruling["legal"], ruling["level"]) == (0, True, "10")
    assert ruling["play"]["counts_as"]["kind"] == "single"
    assert ruling["reasons"][0]["article"] == "000 A8.1"
    assert run("--level", "2", "A", "3", "--json").exit_code == 1


def test_one_declaration_is_the_last_plays_and_two_are_in_their_order() -> None:
    plays = ("--level", "2", "4567 H2", "4567 H2")
    assert run(*plays, "--declare", "34567").exit_code == 1
    assert run(*plays, "--declare", "34567", "--declare", "45678").exit_code == 0
    assert run(*plays, "--declare", "34567", "--declare", "-").exit_code == 0


def test_the_kinds_in_an_exposed_play_are_listed() -> None:
    told = run("--level", "2", "--contained", "999J")
    assert told.exit_code == 0
    assert told.stdout.splitlines()[:2] == [
        "9 9 9 J contains: single, pair, triple",
        "9 9 9 J 含有：单张、对子、三同张",
    ]
    kinds = json.loads(run("--level", "2", "--contained", "999J", "--json").stdout)["kinds"]
    assert kinds == ["single", "pair", "triple"]


def test_big_two_needs_suits_and_no_level() -> None:
    assert run("--profile", "bigtwo-2017-002", "S3 H3", "♠2♦2").exit_code == 0
    told = run("--profile", "bigtwo-2017-002", "33")
    assert told.exit_code == 2
    assert "suits decide in Big Two" in told.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--level", "2", "33333333333"], '"33333333333": place 9, "3": there are only 8 × 3'),
        (["--level", "2", "KK1"], '"KK1": place 3, "1": no such card'),
        (["--level", "2", ""], "the play is empty"),
        (["--level", "2", "♠K♠K♠K♠K♠K"], '"♠K♠K♠K♠K♠K": place 5, "♠K": there are only 2 × ♠K'),
        (["--level", "2", "♠K", "♠K♠K"], "there are only 2 × ♠K in both plays together"),
        (["--level", "1", "K"], 'no level is called "1"'),
        (["K"], "which level is played?"),
        (["--level", "2", "--profile", "whist", "K"], 'profile "whist": expected one of'),
        (["--level", "2", "S10 SJ SQ SK SA"], "the jack of spades is ♠J or JS"),
        (["--profile", "bigtwo-2017-002", "--level", "2", "S3"], "no level is played in Big Two"),
        (["--profile", "bigtwo-2017-002", "--declare", "", "S3"], "nothing is declared in Big Two"),
        (["--level", "2", "--event", "nowhere.toml", "3"], "nowhere.toml: there is no such file"),
        (["--level", "2", "3", "4", "5"], "3 plays: expected one or two"),
        (["--level", "2", "--contained", "3", "4"], "2 plays: expected one;"),
        (["--level", "2", "--contained", "--declare", "pair", "33"], "--contained asks"),
        (["--level", "2", "33", "--declare", "pair", "--declare", "pair"], "2 declarations"),
        (["--level", "2", "33", "--declare", "foo"], 'no play can be declared as "foo"'),
        (["--level", "2", "3\n4 x"], '"3·4 x": place 5, "x": no such card'),
    ],
)
def test_nonsense_exits_2_with_one_clear_line(words: list[str], says: str) -> None:
    told = run(*words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert says in told.stderr
    assert told.stderr.startswith("Error: ")
    assert told.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--level", "2", "33333333333"], "“33333333333”第9个字符“3”：只有8张3"),
        (["--level", "2", "KK1"], "“KK1”第3个字符“1”：没有这张牌"),
        (["--level", "2", ""], "未写牌"),
        (["--level", "2", "♠K", "♠K♠K"], "两手牌合计只有2张♠K"),
        (["--level", "2", "双王"], "大王写 BJ 或大王"),
        (["--level", "2", "S10 SJ SQ"], "黑桃J请写 ♠J 或 JS"),
        (["--level", "2", "7♦8"], "请用空格分开"),
        (["--level", "2", "♦"], "花色没有对应的牌"),
        (["--level", "2", "♥2K"], "请写成 ♥2 K"),
        (["--level", "1", "K"], "没有“1”这一级"),
        (["K"], "打几？"),
        (["--level", "2", "--profile", "whist", "K"], '没有规则 "whist"：应为 '),
        (["--level", "2", "--profile", "hua", "K"], "是 huaian-2017-001，还是 huainan-2013-003？"),
        (["--profile", "bigtwo", "33"], "锄大地比花色"),
        (["--profile", "bigtwo", "--level", "2", "S3"], "锄大地不打级"),
        (["--profile", "bigtwo", "--declare", "", "S3"], "锄大地没有牌型说明"),
        (["--profile", "bigtwo", "--contained", "S3"], "只在掼蛋中判定"),
        (["--profile", "bigtwo", "BJ"], "没有大小王"),
        (["--profile", "bigtwo", "配"], "没有逢人配"),
        (["--profile", "bigtwo", "参谋"], "此处没有级数"),
        (["--level", "2", "3", "4", "5"], "写了3手牌，应为一手或两手"),
        (["--level", "2", "--contained", "--declare", "pair", "33"], "请去掉 --declare"),
        (["--level", "2", "33", "--declare", "pair", "--declare", "pair"], "写了2个说明"),
        (["--level", "2", "33", "--declare", "foo"], "不能说明为“foo”"),
        (["--level", "2", "33", "--declare", " "], "没有说明内容"),
        (["--level", "2", "33", "--declare", "345"], "说明了3张，而这手牌有2张"),
    ],
)
def test_a_question_without_sense_is_answered_in_the_chosen_language(
    words: list[str], says: str
) -> None:
    told = run(*words, "--language", "zh")
    assert (told.exit_code, told.stdout) == (2, "")
    assert says in told.stderr
    assert "place" not in told.stderr


def test_the_help_shows_how_to_write_a_play() -> None:
    told = run("--help").stdout
    assert 'dealtable judge --level 2 "KK66 H2"' in told
    assert "the jack of spades is ♠J or JS" in " ".join(told.split())


def test_nothing_declared_is_no_declaration_in_big_two() -> None:
    assert run("--profile", "bigtwo-2017-002", "--declare", "-", "S3").exit_code == 0


def test_readings_that_differ_in_the_pair_alone_are_one_line() -> None:
    told = run("--level", "2", "KKK H2H2").stdout
    assert told.count("full house") == 1
    assert "    full house with any pair but K  三带对（带K以外的任意一对）\n" in told
    told = run("--level", "2", "KKK H2H2", "--declare", "KKK99").stdout
    assert "  * full house 9(♥2) 9(♥2) K K K  三带对\n" in told
    assert "    full house with any other pair but K  三带对（带K以外的另一对）\n" in told
    assert told.count("full house with") == 1
    assert "full house with" not in run("--level", "2", "KK66 H2").stdout


def test_what_was_declared_is_shown_as_it_was_understood() -> None:
    told = run("--level", "2", "4567 H2", "--declare", "顺子\n34567").stdout
    assert "4 5 6 7 ♥2  (declared straight 3 4 5 6 7 说明为顺子 3 4 5 6 7)" in told


def test_json_tells_wild_cards_bare_cards_and_the_declaration_apart() -> None:
    told = json.loads(run("--level", "2", "4567 H2", "--declare", "顺子34567", "--json").stdout)
    play = told["play"]
    assert told["type"] == "ruling"
    assert play["bare"] == ["4", "5", "6", "7"]
    assert play["counts_as"]["cards"][:2] == [
        {"card": "♥2", "stands_for": "3"},
        {"card": "4", "stands_for": None},
    ]
    assert play["declared"]["kind"] == "straight"
    assert play["declared"]["ranks"] == ["3", "4", "5", "6", "7"]
    assert json.loads(run("--level", "2", "3", "--contained", "--json").stdout)["type"] == (
        "containing"
    )


def test_an_events_regulations_are_gone_by(tmp_path: Path) -> None:
    file = tmp_path / "event.toml"
    file.write_text(
        'profile = "bigtwo-2017-002"\ntitle_en = "Cup"\ntitle_zh = "杯"\norganizer = "X"\n'
        '[bigtwo.combos]\nfive_cards = "same_kind"\n'
    )
    plays = ("--profile", "bigtwo-2017-002", "♦3456 ♣7", "♠34568")
    assert run(*plays).exit_code == 0
    told = run(*plays, "--event", str(file))
    assert told.exit_code == 1
    assert "  Cup: five cards follow five of the same kind" in told.stdout

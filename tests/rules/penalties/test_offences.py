import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from string import Formatter
from typing import get_args

import pytest

from controller.match.clocks import stopwatch
from controller.rules.penalties import offences
from controller.rules.penalties.offences import (
    Offence,
    OffencesError,
    catalogue_words,
    find_offence,
    offence_catalogue,
    read_offences,
    remedy_words,
)
from controller.rules.penalties.penalty_ladder import LADDER_RUNGS
from controller.rules.penalties.penalty_record import CountedParty, CountScope, Penalty
from controller.rules.penalties.proposals import (
    Consequence,
    LevelDown,
    LevelUp,
    TurnLost,
    consequence_words,
)
from controller.words import Words
from tests.guandan import load_guandan
from tests.rows import each_row

TEXT = (resources.files("controller.rules.penalties") / "offences.toml").read_text("utf-8")
WORDS = tomllib.loads(TEXT)["words"]
ARTICLE = {"000": r"A\d+(\.\d)*([①②③④])?(–\d)?", "003": r"R\d(\.\d)?", "004": r"[A-D]"}


every_offence = each_row("row", offence_catalogue().values(), ids=lambda row: row.id)


def test_ids_are_unique_and_stand_in_the_order_of_the_file() -> None:
    written = re.findall(r'^id = "(\w+)"', TEXT, re.MULTILINE)
    assert written == list(offence_catalogue())


@every_offence
def test_an_offence_says_everything_in_both_languages(row: Offence) -> None:
    remedies = [row.remedy, *(own.remedy for own in row.own.values())]
    named = [Words(row.en, row.zh), *(Words(kind.en, kind.zh) for kind in row.kinds)]
    for text in (*named, *remedies):
        assert text.en
        assert not re.search(r"[\u4e00-\u9fff]", text.en)
        assert re.search(r"[\u4e00-\u9fff]", text.zh)


@every_offence
def test_every_article_is_one_of_its_text(row: Offence) -> None:
    for text, article in articles(row):
        assert re.fullmatch(ARTICLE[text], article), article


@every_offence
def test_what_seed_000_punishes_has_an_article_there_or_a_key(row: Offence) -> None:
    profile = load_guandan("international-000")
    for step in row.steps:
        for option in step:
            if option.key is not None:
                assert option.key in {*profile.sources, *profile.provisional}
            elif option.articles is None:
                assert "000" in row.articles


@every_offence
def test_no_step_is_milder_than_the_one_before(row: Offence) -> None:
    order = list(get_args(Penalty))
    firsts = [order.index(step[0].penalty) for step in row.steps]
    assert firsts == sorted(firsts)


@every_offence
def test_kinds_of_one_offence_have_names_of_their_own(row: Offence) -> None:
    assert len({kind.id for kind in row.kinds}) == len(row.kinds)


def test_there_are_five_illegal_signals_in_the_order_of_the_article() -> None:
    kinds = find_offence("illegal_signal").kinds
    assert [kind.articles["000"] for kind in kinds] == [f"A19.1.{n}" for n in range(1, 6)]


def test_every_offence_a_clock_can_propose_is_in_the_catalogue() -> None:
    assert set(get_args(stopwatch.ClockOffence)) <= set(offence_catalogue())


def test_the_texts_differ_in_what_follows_a_play_out_of_turn() -> None:
    international = remedy_words(load_guandan("international-000"), "play_out_of_turn")
    huainan = remedy_words(load_guandan("huainan-2013-003"), "play_out_of_turn")
    assert "passed over" in international.en
    assert "foul" in huainan.en


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("penalty", get_args(Penalty)),
        ("also", get_args(offences.TurnLoss)),
        ("counted", get_args(CountedParty)),
        ("scope", get_args(CountScope)),
        ("why", [rung.limit for rung in LADDER_RUNGS]),
    ],
)
def test_every_name_a_reason_may_use_has_its_words(kind: str, names: list[str]) -> None:
    for name in names:
        assert catalogue_words(kind, name).en
        assert catalogue_words(kind, name).zh


def test_both_languages_of_a_template_have_the_same_places() -> None:
    for table in WORDS.values():
        for text in table.values():
            english, chinese = text
            assert places(english) == places(chinese)


def test_every_consequence_has_its_words() -> None:
    named = {str(kind.__struct_config__.tag) for kind in get_args(Consequence)}
    ways = {"trick_lost", "earlier_deal_lost", "earlier_dead_hand"}
    assert named | ways == set(WORDS["effect"])
    once, trick = (consequence_words(TurnLost("E", whole)) for whole in (False, True))
    assert once == Words("East does not play this time", "东家停止出牌权一次")
    assert trick == Words(
        "East neither leads nor follows for one trick", "东家停止一圈出牌权或跟牌权"
    )


def test_a_consequence_is_said_as_a_person_would_write_it() -> None:
    assert consequence_words(LevelUp("NS", 1)) == Words(
        "North-South, one level up; play goes on", "南北升1级，牌局继续"
    )
    assert consequence_words(LevelDown("EW", 3)) == Words(
        "East-West, three levels down; play goes on", "东西降3级，牌局继续"
    )


def test_a_name_outside_the_catalogue_is_refused() -> None:
    with pytest.raises(LookupError, match="no_such_offence"):
        find_offence("no_such_offence")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('id = "late"', 'id = "default"', r'offence\[\d+\].id = "default": there is one already'),
        ('penalty = "foul" }', 'penalty = "fowl" }', r'penalty = "fowl": expected one of'),
        ('counted = "pair"', 'counted = "pears"', r'counted = "pears": expected one of'),
        ("direct_foul = true", "direct_fool = true", 'did you mean "direct_foul"'),
        ('steps = [[{ penalty = "none" }]]', "steps = [[]]", "at least one option in each step"),
        (
            '[{ penalty = "warning" }, { penalty = "none" }]',
            '[{ penalty = "none" }, { penalty = "none" }]',
            "each penalty once in a step",
        ),
        ('counted_at = ["player", "pair"]', 'counted_at = ["player", "pears"]', r'\[1\] = "pears"'),
        ('counted_at = ["player", "pair"]', 'counted_at = ["pair"]', "one for each of 2 steps"),
        (
            'counted_at = ["player", "pair"]',
            'counted_at = ["pair", "player"]',
            'the last "pair" as counted has it',
        ),
    ],
)
def test_a_mistake_in_the_catalogue_is_one_line(old: str, new: str, line: str) -> None:
    assert old in TEXT
    with pytest.raises(OffencesError, match=line) as caught:
        read_offences(TEXT.replace(old, new, 1), "offences.toml")
    assert str(caught.value).startswith("offences.toml: ")
    assert "\n" not in str(caught.value)


def test_a_single_step_cannot_be_counted() -> None:
    head, tail = TEXT.split('id = "draw_unseen"')
    wrong = head + 'id = "draw_unseen"' + tail.replace('"occasion"', '"match"', 1)
    with pytest.raises(OffencesError, match='a single step goes with scope = "occasion"'):
        read_offences(wrong, "offences.toml")


def articles(row: Offence) -> Iterator[tuple[str, str]]:
    yield from row.articles.items()
    yield from row.scope_articles.items()
    for kind in row.kinds:
        yield from kind.articles.items()
    for steps in (row.steps, *(own.steps for own in row.own.values())):
        for step in steps:
            for option in step:
                yield from (option.articles or {}).items()


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}

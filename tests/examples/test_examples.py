"""The 88 worked examples: examples.toml asked of the code."""

import inspect
from collections.abc import Callable
from pathlib import Path

from controller.rules.profile import rules_by_key
from tests.examples import (
    checks_bigtwo,
    checks_ceremony,
    checks_clocks,
    checks_match,
    checks_penalties,
    checks_play,
    checks_tribute,
)
from tests.examples.examples import Run, examples, runs
from tests.rows import each_row

IDS = [f"{number:02}" for number in range(1, 89)]

CHECKS: dict[str, Callable[..., dict[str, object]]] = {
    "turn_up": checks_ceremony.turn_up,
    "drawn": checks_ceremony.drawn,
    "leads_by_hand": checks_ceremony.leads_by_hand,
    "leads_by_machine": checks_ceremony.leads_by_machine,
    "duties": checks_ceremony.duties,
    "cuts": checks_ceremony.cuts,
    "recount": checks_ceremony.recount,
    "card_due": checks_tribute.card_due,
    "exchange": checks_tribute.exchange,
    "returned": checks_tribute.returned,
    "after_deal": checks_match.after_deal,
    "after_deals": checks_match.after_deals,
    "final": checks_match.final,
    "time_between_deals": checks_match.time_between_deals,
    "time_in_deal": checks_match.time_in_deal,
    "extra_deal": checks_match.extra_deal,
    "forfeited": checks_penalties.forfeited,
    "fouls": checks_penalties.fouls,
    "shifts": checks_penalties.shifts,
    "dead_hand": checks_penalties.dead_hand,
    "tribute_time": checks_clocks.tribute_time,
    "return_time": checks_clocks.return_time,
    "play_time": checks_clocks.play_time,
    "report": checks_play.report,
    "beating": checks_play.beating,
    "leading": checks_play.leading,
    "reading": checks_play.reading,
    "card_points": checks_bigtwo.points_left,
    "scores": checks_bigtwo.scores,
    "matchpoints": checks_bigtwo.matchpoints,
    "place_points": checks_bigtwo.place_points,
    "last_card": checks_bigtwo.last_card,
    "pairing": checks_match.pairing,
}

PROVISIONAL_EVERYWHERE = {"cards.pip_value"}
"""What no rulebook says and no profile has a key for."""

RUNS = list(runs())


@each_row("run", RUNS, ids=lambda run: run.name)
def test_example(run: Run, tmp_path: Path) -> None:
    got = CHECKS[run.case.check](run.profile(tmp_path), **run.case.given)
    assert {key: got.get(key, "(no answer)") for key in run.case.expect} == run.case.expect


def test_every_example_is_there_once_and_in_order() -> None:
    assert [example.id for example in examples()] == IDS


@each_row("run", RUNS, ids=lambda run: run.name)
def test_an_example_says_p_exactly_where_it_rests_on_a_provisional_key(
    run: Run, tmp_path: Path
) -> None:
    profile = run.profile(tmp_path)
    known = {*rules_by_key(profile), *PROVISIONAL_EVERYWHERE}
    assert set(run.rests_on) <= known
    assert [key for key in run.rests_on if profile.article(key) is not None] == []
    assert run.source[:2] in ("S ", "D ", "P ")
    assert run.provisional == bool(run.rests_on)


def test_a_provisional_example_is_seen_in_its_name() -> None:
    assert {run.name for run in RUNS if run.provisional} == {
        run.name for run in RUNS if run.name.endswith("-provisional")
    }
    assert "01" in {run.name for run in RUNS}
    assert "68-1-provisional" in {run.name for run in RUNS}


def test_every_example_expects_something() -> None:
    assert [run.name for run in RUNS if not run.case.expect] == []


def test_no_two_examples_have_one_name() -> None:
    names = [run.name for run in RUNS]
    assert len(set(names)) == len(names)


def test_every_check_is_asked_and_takes_what_it_is_given() -> None:
    asked = {run.case.check for run in RUNS}
    assert asked == set(CHECKS)
    for run in RUNS:
        inspect.signature(CHECKS[run.case.check]).bind(None, **run.case.given)


def test_what_holds_in_international_is_asked_of_huaian_too() -> None:
    for example in examples():
        for case in example.case:
            letters = case.profiles or example.profiles
            assert ("I" in letters) == ("H" in letters), example.id

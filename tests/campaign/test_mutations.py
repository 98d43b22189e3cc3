"""Bugs in controller and firmware, each of which a hostile campaign must catch."""

import ast
from pathlib import Path

import pytest

from tests.campaign.mutations import Mutation, campaign_at, mutated, mutations, plant

pytestmark = pytest.mark.slow

ALL = mutations()
ALWAYS = 2
"""How many of them are tried in every run, whatever its scale."""


def test_each_bug_fits_into_its_file_exactly_once_and_leaves_it_python() -> None:
    for mutation in ALL:
        ast.parse(mutated(mutation), filename=mutation.name)
    assert [mutation.name for mutation in ALL if not mutation.kinds] == []


def test_there_are_as_many_bugs_as_were_asked_for_each_with_its_own_name() -> None:
    assert len({mutation.name for mutation in ALL}) == len(ALL) >= 10


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try as many bugs as --scale says, ALWAYS of them at least."""
    if "planted" in metafunc.fixturenames:
        tried = max(ALWAYS, int(len(ALL) * metafunc.config.getoption("--scale")))
        metafunc.parametrize("planted", ALL[:tried], ids=lambda each: each.name)


def test_a_campaign_catches_a_bug(planted: Mutation, tmp_path: Path) -> None:
    plant(planted, tmp_path)
    caught = campaign_at(tmp_path)
    assert caught.status == 1, caught
    assert {kind for kind, _ in caught.findings} & set(planted.kinds), caught

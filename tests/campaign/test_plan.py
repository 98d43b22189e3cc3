"""The lives of a campaign, and the faults that --faults names."""

from pathlib import Path

import pytest

from controller.host.toml_files import FileError
from sim.campaign.campaign_lives import (
    LIFE_DEALS,
    WEAR_LEVELS,
    CampaignPlan,
    load_faults,
    parse_replay,
    plan_lives,
)
from sim.mechanics.fault_menu import WearLevel, get_wear_level


def plan(deals: int, journal: Path | None = None) -> CampaignPlan:
    return CampaignPlan(7, deals, "ideal", WearLevel(), journal)


@pytest.mark.parametrize("deals", [1, LIFE_DEALS, LIFE_DEALS + 1, 4 * LIFE_DEALS])
def test_the_lives_of_a_campaign_have_its_deals_and_seeds_of_their_own(deals: int) -> None:
    made = list(plan_lives(plan(deals)))
    assert sum(life.deals for life in made) == deals
    assert [life.seed for life in made] == [f"7.{n}" for n in range(1, len(made) + 1)]
    assert all(0 < life.deals <= LIFE_DEALS for life in made)


def test_a_longer_campaign_begins_with_the_lives_of_a_shorter_one() -> None:
    assert list(plan_lives(plan(10 * LIFE_DEALS)))[:3] == list(plan_lives(plan(3 * LIFE_DEALS)))


def test_each_life_writes_its_journal_into_a_folder_of_its_own() -> None:
    made = list(plan_lives(plan(2 * LIFE_DEALS, Path("kept"))))
    assert [life.journal for life in made] == [Path("kept/7.1"), Path("kept/7.2")]


def test_a_replay_names_a_life_and_perhaps_a_deal_of_it() -> None:
    assert parse_replay("1.37") == ("1.37", None)
    assert parse_replay("1.37.4") == ("1.37", 4)


@pytest.mark.parametrize("text", ["", "1", "1.0", "1.37.0", "1.37.4.2", "a.b", "1. 2", "１.2"])
def test_what_names_no_life_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*names no life[^\n]*$"):
        parse_replay(text)


@pytest.mark.parametrize("level", WEAR_LEVELS)
def test_faults_are_a_wear_level_by_its_name(level: str) -> None:
    assert load_faults(level) == get_wear_level(level)


def test_faults_are_read_from_a_file_of_the_same_shape(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('rates = [{ name = "double_feed", rate = 0.01 }]')
    (only,) = load_faults(str(path)).rates
    assert (only.name, only.rate) == ("double_feed", 0.01)


@pytest.mark.parametrize("text", ["rates = 3", "rates = [", 'rates = [{ name = "gremlin" }]'])
def test_a_file_that_is_no_wear_level_is_refused_in_one_line_with_its_name(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=r"^[^\n]*mine\.toml[^\n]*$"):
        load_faults(str(path))


def test_faults_that_are_neither_level_nor_file_are_refused_with_the_levels() -> None:
    with pytest.raises(FileError, match="ideal, worn, hostile"):
        load_faults("gremlins")

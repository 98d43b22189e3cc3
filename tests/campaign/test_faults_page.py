"""sim/FAULTS.md: its menu is the menu, and its table is a campaign's."""

import os
from importlib import resources
from pathlib import Path

import pytest

from controller.trials.campaign.page import (
    campaign_part,
    menu_part,
    page_of,
    parts_of,
    told_faults,
    write_menu_part,
)
from controller.trials.campaign.plan import CampaignPlan
from controller.trials.campaign.report import ZEROS, merged
from sim.mechanics.faults import Wear, menu
from tests.campaign.lives import attempt, attempts

PAGE = Path(str(resources.files("sim").joinpath("FAULTS.md")))
WRITES = "DEALTABLE_WRITE_FAULTS" in os.environ


def test_the_page_begins_with_the_menu_as_it_is() -> None:
    if WRITES:
        write_menu_part(PAGE)
    assert parts_of(PAGE.read_text("utf-8"))[0] == menu_part()


def test_the_table_of_the_page_has_every_fault_of_the_menu_and_no_other() -> None:
    page = PAGE.read_text("utf-8")
    assert told_faults(page) == set(menu())


def test_the_table_of_the_page_is_of_ten_thousand_hostile_deals_without_a_finding() -> None:
    table = parts_of(PAGE.read_text("utf-8"))[1]
    assert "--deals 10000 --faults hostile --seed 1" in table
    assert f" attempts; {', '.join(f'0 {words}' for words in ZEROS.values())};" in table


def test_a_page_is_parted_where_the_campaign_begins() -> None:
    report = merged(CampaignPlan(1, 25, "hostile", Wear()), [attempts(attempt(1, 1))])
    assert parts_of(page_of(report)) == (menu_part(), campaign_part(report))
    assert told_faults(page_of(report)) == set(menu())


def test_writing_the_menu_anew_keeps_what_a_campaign_wrote(tmp_path: Path) -> None:
    report = merged(CampaignPlan(1, 25, "hostile", Wear()), [attempts(attempt(1, 1))])
    path = tmp_path / "FAULTS.md"
    path.write_text(page_of(report).replace("Generated.", "Outdated."), "utf-8")
    write_menu_part(path)
    assert path.read_text("utf-8") == page_of(report)


@pytest.mark.parametrize("name", menu())
def test_the_menu_tells_of_each_fault_what_it_is(name: str) -> None:
    entry = menu()[name]
    table = menu_part().partition("## Wear")[0].splitlines()
    (row,) = (row for row in table if row.startswith(f"| {name} |"))
    assert entry.what in row
    assert all(f"`{field}`" in row for field in entry.takes)

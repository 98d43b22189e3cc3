"""sim/FAULTS.md: its menu is the menu, and its table is a campaign's."""

import re
from importlib import resources
from pathlib import Path

from sim.campaign.campaign_lives import CampaignPlan
from sim.campaign.campaign_report import MUST_BE_ZERO, merge_reports
from sim.campaign.faults_page import render_campaign, render_faults_page, render_menu, split_page
from sim.mechanics.fault_menu import WearLevel, fault_menu
from tests.campaign.lives import attempt, attempts
from tests.rows import each_row

CELL = re.compile(r"^\| ([a-z_]+)(?::[^|]*)? \|", re.MULTILINE)
PAGE = Path(str(resources.files("sim").joinpath("FAULTS.md")))


def faults_in_page(page: str) -> set[str]:
    """Return the faults in a page's table of detection and recovery."""
    return set(CELL.findall(split_page(page)[1])) - {"fault"}


def test_the_table_of_the_page_has_every_fault_of_the_menu_and_no_other() -> None:
    page = PAGE.read_text("utf-8")
    assert faults_in_page(page) == set(fault_menu())


def test_the_table_of_the_page_is_of_ten_thousand_hostile_deals_without_a_finding() -> None:
    table = split_page(PAGE.read_text("utf-8"))[1]
    assert "--deals 10000 --faults hostile --seed 1" in table
    assert f" attempts; {', '.join(f'0 {words}' for words in MUST_BE_ZERO.values())};" in table


def test_a_page_is_parted_where_the_campaign_begins() -> None:
    report = merge_reports(CampaignPlan(1, 25, "hostile", WearLevel()), [attempts(attempt(1, 1))])
    assert split_page(render_faults_page(report)) == (render_menu(), render_campaign(report))
    assert faults_in_page(render_faults_page(report)) == set(fault_menu())


def test_writing_the_menu_anew_keeps_what_a_campaign_wrote() -> None:
    report = merge_reports(CampaignPlan(1, 25, "hostile", WearLevel()), [attempts(attempt(1, 1))])
    outdated = render_faults_page(report).replace("Generated.", "Outdated.")
    assert render_menu() + split_page(outdated)[1] == render_faults_page(report)


@each_row("name", fault_menu())
def test_the_menu_tells_of_each_fault_what_it_is(name: str) -> None:
    entry = fault_menu()[name]
    table = render_menu().partition("## Wear")[0].splitlines()
    (row,) = (row for row in table if row.startswith(f"| {name} |"))
    assert entry.what in row
    assert all(f"`{field}`" in row for field in entry.takes)

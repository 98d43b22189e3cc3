"""What a real table's gateway tells Prometheus, after a deal."""

import re
import subprocess

import pytest

from controller.gateway.metric_families import METRIC_FAMILIES
from controller.messages import AttemptOutcome
from sim.tables.table_processes import TableProcess
from tests.processes.metrics import scrape
from tests.processes.people import People

VALUE = re.compile(r"(?m)^(dealtable_\w+|process_\w+)(\{[^}]*\}) (\S+)$")
WITHOUT_ONE_YET = {"faults", "alert", "redeals", "voids"}


def check(promtool: str, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True
    )


@pytest.fixture
async def after_a_deal(table: TableProcess) -> str:
    async with People(table) as people:
        state = await people.held()
        assert state.fairness[-1].outcome is AttemptOutcome.OK
        return scrape(table)


async def test_promtool_accepts_the_metrics_of_a_real_table(
    after_a_deal: str, promtool: str
) -> None:
    checked = check(promtool, after_a_deal)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


async def test_promtool_would_have_said_what_is_wrong(after_a_deal: str, promtool: str) -> None:
    spoilt = after_a_deal.replace("dealtable_deals_total", "dealtable_deals")
    checked = check(promtool, spoilt)
    assert checked.returncode != 0


async def test_every_family_is_there_after_a_deal_but_those_of_trouble(after_a_deal: str) -> None:
    told = set(re.findall(r"(?m)^# TYPE dealtable_(\w+) ", after_a_deal))
    missing = {key for key, family in METRIC_FAMILIES.items() if family.name not in told}
    assert missing <= WITHOUT_ONE_YET | {"set_deals", "lifts", "shuffle_passes", "gate_turns"}


async def test_each_number_says_its_table_and_that_it_is_simulated(after_a_deal: str) -> None:
    found = VALUE.findall(after_a_deal)
    assert len(found) > 100
    for name, labels, value in found:
        assert 'table="T01"' in labels, name
        assert 'simulated="true"' in labels, name
        float(value)
    assert re.search(r'dealtable_cards_fed_total\{.*source="hopper".*\} 108\.0', after_a_deal)
    assert re.search(r"dealtable_route_latency_seconds_count\{.*\} 108\.0", after_a_deal)

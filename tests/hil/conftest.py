"""Runs of scenarios, as people start them."""

from functools import partial
from pathlib import Path

import pytest

from tests.hil.scenario_run import RunScenarios, run_scenarios


@pytest.fixture
def scenarios(tmp_path: Path, pytestconfig: pytest.Config) -> RunScenarios:
    """Run hil_tests with words in a process of its own."""
    return partial(run_scenarios, pytestconfig.rootpath, tmp_path)

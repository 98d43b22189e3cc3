"""Whole, real processes, as people start them. None of them outlives its test."""

import subprocess

import pytest

from tests.processes.demo import Demo
from tests.processes.gateway_double import gateways, honest, other
from tests.processes.program import DEALTABLE, Done
from tests.processes.tables import boards, dealtable, mark, people, start, table

__all__ = ["boards", "dealtable", "gateways", "honest", "mark", "other", "people", "start", "table"]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Three deals of a demo, once for all tests that only look at what it left."""
    state_dir = tmp_path_factory.mktemp("demo") / "state"
    words = ("demo", "--once", "--deals", "3", "--speed", "20", "--json", "--state-dir", state_dir)
    ended = subprocess.run([*DEALTABLE, *map(str, words)], capture_output=True, text=True)
    return Demo(Done(ended.returncode, ended.stdout, ended.stderr), state_dir)

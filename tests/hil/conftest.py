"""Runs of scenarios, as people start them."""

import asyncio
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

Words = Callable[..., Awaitable["Shown"]]


@dataclass(frozen=True)
class Shown:
    """What a run of scenarios has shown: its exit status, its words, its page and JUnit's file."""

    code: int
    said: str
    report: Path
    junit: Path

    @property
    def properties(self) -> dict[str, str]:
        """What JUnit's file says about the whole run."""
        found = ET.parse(self.junit).iterfind("./testsuite/properties/property")
        return {each.attrib["name"]: each.attrib["value"] for each in found}

    def count(self, word: str) -> int:
        """Return how many of these pytest's last line counts: passed, failed, skipped, errors."""
        found = re.search(rf"(\d+) {word}", self.said.strip().splitlines()[-1])
        return int(found[1]) if found else 0


@pytest.fixture
def scenarios(tmp_path: Path, pytestconfig: pytest.Config) -> Words:
    """Run hil_tests with words in a process of its own."""

    async def run(*words: str) -> Shown:
        report, junit = tmp_path / "report.html", tmp_path / "report.xml"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pytest", "hil_tests", "-q", "-p", "no:cacheprovider"),
            *("--report", str(report), "--junitxml", str(junit), *words),
            cwd=pytestconfig.rootpath,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said, _ = await process.communicate()
        except BaseException:
            process.terminate()
            await process.wait()
            raise
        assert process.returncode is not None
        return Shown(process.returncode, said.decode(), report, junit)

    return run

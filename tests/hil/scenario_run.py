"""A run of hil_tests in a process of its own, and what it has shown."""

import asyncio
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

RunScenarios = Callable[..., Awaitable["ScenarioRun"]]


@dataclass(frozen=True)
class ScenarioRun:
    """A finished run: its exit status, its words, its page and JUnit's file."""

    code: int
    said: str
    report: Path
    junit: Path

    @property
    def page(self) -> str:
        """The page for people."""
        return self.report.read_text(encoding="utf-8")

    @property
    def properties(self) -> dict[str, str]:
        """What JUnit's file says about the whole run."""
        found = ET.parse(self.junit).iterfind("./testsuite/properties/property")
        return {each.attrib["name"]: each.attrib["value"] for each in found}

    def count(self, word: str) -> int:
        """Return how many of these pytest's last line counts: passed, failed, skipped, errors."""
        found = re.search(rf"(\d+) {word}", self.said.strip().splitlines()[-1])
        return int(found[1]) if found else 0


async def run_scenarios(root: Path, folder: Path, *words: str) -> ScenarioRun:
    """Run hil_tests with words of the command line; reports go into `folder`."""
    report, junit = folder / "report.html", folder / "report.xml"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "hil_tests", "-q", "-p", "no:cacheprovider"),
        *("--report", str(report), "--junitxml", str(junit), *words),
        cwd=root,
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
    return ScenarioRun(process.returncode, said.decode(), report, junit)

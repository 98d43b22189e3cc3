"""`dealtable lab`: collect, report, retest, and what it says where it cannot."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from controller.cli import main
from controller.host.toml_files import read_resource
from sim.cli import lab
from sim.lab import collection as collecting
from sim.lab.collected_deals import DealsSource, load_deals, save_deals
from sim.lab.deal_chain import METHODS
from sim.lab.family import FAMILY
from sim.lab.lab_page import CLAUSES
from sim.lab.lab_report import LabReport
from tests.lab.dealing import production
from tests.lab.flaws import flawed

pytestmark = pytest.mark.slow

LAB_PAGE = Path(collecting.__file__).parent / "LAB.md"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "PART_DEALS", {"sequence": 100, "full": 2})


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["lab", *map(str, words)])


def report(*words: object) -> tuple[int, LabReport]:
    result = run("report", *words, "--json", "--jobs", 1)
    return result.exit_code, msgspec.json.decode(result.stdout, type=LabReport)


def test_deals_of_the_production_sequence_are_inside_with_a_fixed_seed(
    scale: Callable[[int], int],
) -> None:
    code, told = report("--deals", scale(100_000), "--seed", 6)

    assert code == 0
    assert told.verdict == "inside"
    assert all(result.p is not None for result in told.first.results)
    assert {one.method for one in told.naive} == set(METHODS) - {"fair"}
    assert all(one.outside for one in told.naive)


def test_what_was_collected_can_be_reported(tmp_path: Path) -> None:
    path = tmp_path / "deals.npz"
    collected = run("collect", "--deals", 150, "--seed", 2, "--out", path, "--jobs", 1)
    code, told = report(path)

    assert collected.exit_code == 0
    assert f"{path}: 150 of 150 deals" in collected.output
    assert code == 0
    assert told.first.source.seed == 2
    assert list(told.first.files) == [str(path)]


def test_several_files_are_reported_as_one(tmp_path: Path) -> None:
    for seed in (1, 2):
        save_deals(production(60, seed), tmp_path / f"{seed}.npz")
    code, told = report(tmp_path / "1.npz", tmp_path / "2.npz")

    assert code == 0
    assert told.first.deals == 120
    assert len(told.first.files) == 2


def test_a_naive_method_is_outside_twice_and_exits_1() -> None:
    code, told = report("--deals", 200, "--seed", 1, "--method", "naive-pocket")

    assert code == 1
    assert told.verdict == "outside"
    assert told.retest is not None
    assert told.retest.deals == 200
    assert told.retest.results != told.first.results


def test_the_retest_counts(tmp_path: Path) -> None:
    bad = replace(flawed(production(200), "own-place"), source=DealsSource(path="sequence", seed=3))
    save_deals(bad, tmp_path / "bad.npz")

    code, told = report(tmp_path / "bad.npz")

    assert told.first.outside == ("own-place",)
    assert told.verdict == "inside at the retest"
    assert code == 0


def test_deals_from_elsewhere_wait_for_their_retest(tmp_path: Path) -> None:
    elsewhere = DealsSource(path="given", method="table T01")
    save_deals(
        replace(flawed(production(100), "own-place"), source=elsewhere), tmp_path / "bad.npz"
    )
    save_deals(replace(production(100, 2), source=elsewhere), tmp_path / "good.npz")
    save_deals(replace(production(90, 2), source=elsewhere), tmp_path / "few.npz")

    code, told = report(tmp_path / "bad.npz")
    assert (code, told.verdict) == (1, "outside, not retested")
    code, told = report(tmp_path / "bad.npz", "--retest", tmp_path / "good.npz")
    assert (code, told.verdict) == (0, "inside at the retest")
    for file, words in (("few.npz", "as many new deals"), ("bad.npz", "the same deals")):
        result = run("report", tmp_path / "bad.npz", "--retest", tmp_path / file)
        assert result.exit_code == 2
        assert words in result.output
        assert result.output.count("\n") == 1


def test_the_text_shows_every_test_at_both_levels_and_what_it_is_judged_by() -> None:
    output = run("report", "--deals", 100, "--seed", 1, "--jobs", 1).output

    lines = [line.removeprefix("*").split() for line in output.splitlines()]
    rows = {words[0]: words for words in lines if words}
    assert {question.name for question in FAMILY} <= set(rows)
    assert rows["test"][:7] == ["test", "p", "bound", "95", "%", "99", "%"]
    assert set(rows["twins"][3:5]) <= {"in", "out"}
    assert "No test is outside the family's bound." in output


def test_every_test_and_no_other_has_its_plain_words() -> None:
    words = read_resource("sim.lab", "family_words.toml", dict[str, dict[str, str]])

    assert list(words) == [question.name for question in FAMILY]


def test_the_page_stands_alone_and_answers_every_clause(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    run("report", "--deals", 100, "--seed", 1, "--jobs", 1, "--html", path)
    page = path.read_text("utf-8")

    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert page.count("data:image/png;base64,") == 5
    for clause in CLAUSES:
        assert f"<td>{clause.name}</td>" in page
        assert clause.shown
    for question in FAMILY:
        assert f"<td>{question.name}</td>" in page
    pictures = sorted(tmp_path.glob("report-*.png"))
    assert len(pictures) == 5
    assert all(picture.read_bytes().startswith(PNG) for picture in pictures)


def test_the_clauses_are_r1_to_r14_and_tests_name_no_other() -> None:
    names = [clause.name for clause in CLAUSES]

    assert names == [f"R{number}" for number in range(1, 15)]
    assert {name for question in FAMILY for name in question.shows} <= set(names)


def test_broken_off_the_deals_that_came_are_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[int] = []

    def saw(progress: Any, deals: int) -> None:
        came.append(deals)
        if len(came) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(lab, "_advance", saw)
    path = tmp_path / "deals.npz"
    result = run("collect", "--deals", 1_000, "--seed", 1, "--out", path, "--jobs", 1)

    assert result.exit_code == 130
    assert f"{path}: 200 of 1000 deals" in result.output
    assert len(load_deals(path)) == 200
    assert load_deals(path).source.asked == 1_000


def test_ctrl_c_in_a_terminal_leaves_what_was_shown_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "deals.npz"
    words = ("lab", "collect", "--deals", "1000000", "--jobs", "2", "--out", str(path))
    child = subprocess.Popen(
        [sys.executable, "-m", "controller.cli", *words],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        env=os.environ | {"FORCE_COLOR": "1"},
    )  # fmt: skip
    try:
        assert child.stderr is not None
        shown = b""
        while not re.search(rb"[1-9]\d*/1000000", shown):
            shown += os.read(child.stderr.fileno(), 4096)
        os.killpg(child.pid, signal.SIGINT)
        child.communicate()
    finally:
        child.kill()
        child.wait()

    assert child.returncode == 130
    found = re.search(rb"([1-9]\d*)/1000000", shown)
    assert found is not None
    assert len(load_deals(path)) >= int(found[1])


def test_a_report_that_was_broken_off_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def saw(progress: Any, deals: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "_advance", saw)
    result = run("report", "--deals", 500, "--seed", 1, "--jobs", 1)

    assert result.exit_code == 130
    assert "100 of 500 deals: nothing was judged" in result.output


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "deals.npz"
    path.write_bytes(b"raw data")
    result = run("collect", "--deals", 10, "--out", path)

    assert result.exit_code == 2
    assert path.read_bytes() == b"raw data"
    assert run("collect", "--deals", 10, "--out", tmp_path / "no" / "deals.npz").exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("report",),
        ("report", "a.npz", "--deals", 3),
        ("report", "missing.npz"),
        ("collect", "--deals", 3),
        ("collect", "--deals", 3, "--out", "x.npz", "--path", "full", "--method", "riffles"),
    ],
)
def test_bad_usage_exits_2(words: tuple[object, ...]) -> None:
    assert run(*words).exit_code == 2


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ("numpy", ("collect", "--deals", 3, "--out", "x")),
        ("numpy", ("report", "--deals", 3)),
        ("scipy", ("report", "--deals", 3)),
        ("matplotlib", ("report", "--deals", 3, "--html", "x")),
    ],
)
def test_without_what_it_counts_with_it_says_so_in_one_line(
    monkeypatch: pytest.MonkeyPatch, lacking: str, words: tuple[object, ...]
) -> None:
    without(monkeypatch, lacking)
    result = run(*words)

    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert "pip install 'dealtable[lab]'" in result.output


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ("scipy, matplotlib", "collect --deals 3 --seed 1 --jobs 1 --out deals.npz"),
        ("matplotlib", "report --deals 3 --seed 1 --jobs 1 --json"),
    ],
)
def test_what_is_not_used_need_not_be_installed(tmp_path: Path, lacking: str, words: str) -> None:
    program = f"""
import sys
from importlib.machinery import PathFinder
find = PathFinder.find_spec
lacking = {lacking.split(", ")}
PathFinder.find_spec = lambda name, *rest: None if name in lacking else find(name, *rest)
from controller.cli import main
main(["lab", *{words.split()}])
"""
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda asked, *rest: None if asked == name else real(asked)
    )


def test_its_help_and_its_sequence_need_neither_numpy_nor_the_simulator() -> None:
    program = """
import sys
from controller.cli import main
for words in (["lab", "--help"], ["lab", "report", "--help"]):
    try:
        main(words)
    except SystemExit:
        pass
heavy = {"numpy", "scipy", "matplotlib"}
first = sorted(
    name
    for name in sys.modules
    if name in heavy or (name.startswith("sim.") and not name.startswith("sim.cli"))
)
import sim.lab.collection, sim.lab.lab_report, sim.lab.collected_deals
print(first, "sim.mechanics" in sys.modules)
"""
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout.splitlines()[-1] == "[] False"


def test_the_command_line_knows_the_ways_to_deal() -> None:
    assert tuple(METHODS) == lab.METHODS
    assert tuple(collecting.PART_DEALS) == lab.PATHS


def test_the_report_is_json_for_programs() -> None:
    result = run("report", "--deals", 60, "--seed", 1, "--jobs", 1, "--json")
    told = json.loads(result.stdout)

    assert told["level"] == 0.99
    assert set(told["first"]["results"][0]) >= {"name", "statistic", "p", "bound", "at_95", "at_99"}


def test_deals_that_are_too_few_are_not_asked_what_they_cannot_answer() -> None:
    code, told = report("--deals", 10, "--seed", 1)

    answered = {result.name for result in told.first.results if result.p is not None}
    assert answered == {"repeated", "own-place"}
    assert set(told.first.unjudged) == {question.name for question in FAMILY} - answered
    assert code == 0


def test_what_was_not_judged_is_said_beside_the_verdict_and_why(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    few = run("report", "--deals", 10, "--seed", 1, "--jobs", 1, "--html", page)
    enough = run("report", "--deals", 600, "--seed", 1, "--jobs", 1)
    left = f"{len(FAMILY) - 2} of {len(FAMILY)} tests not judged: fewer than 50 deals."

    verdict = f"No test is outside the family's bound. {left}"
    assert few.output.splitlines()[-1] == verdict
    assert escape(verdict) in page.read_text("utf-8")
    assert enough.output.splitlines()[-1] == "No test is outside the family's bound."
    assert (few.exit_code, enough.exit_code) == (0, 0)
    assert left.partition(":")[0] in LAB_PAGE.read_text("utf-8")


def test_a_machine_whose_stack_nobody_saw_leaves_its_tests_unanswered(tmp_path: Path) -> None:
    save_deals(replace(production(100), collected=None), tmp_path / "bare.npz")
    _, told = report(tmp_path / "bare.npz")

    unanswered = {result.name for result in told.first.results if result.p is None}
    assert {"collected-seat", "collected-trend", "collected-pairs"} <= unanswered
    assert unanswered < {question.name for question in FAMILY}

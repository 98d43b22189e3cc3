"""Log lines: JSON where nobody looks, readable in a terminal, and never a secret."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
import structlog

from controller.service import logging_setup

SECRET = "5ec2e7" * 5
LOUD = structlog.get_logger("test")


@pytest.fixture(autouse=True)
def quiet_again(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(logging_setup, "_context", {"table": None, "boot": None, "part": None})
    # Another test's library may have switched every logger off that was there before it.
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    logging.getLogger("drivers").setLevel(logging.NOTSET)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    said = capsys.readouterr()
    assert said.out == ""
    return [json.loads(line) for line in said.err.splitlines()]


def fail_with_a_secret() -> None:
    held = SECRET  # a local variable, as a face or a key would be
    raise ValueError(f"{len(held)} characters")


def test_a_line_is_one_object_that_says_whose_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    logging_setup.log_to_stderr()
    logging_setup.add_log_context(table="T01", part="machine")
    logging_setup.add_log_context(boot="ab12")

    LOUD.warning("jam", place="gate")

    (line,) = lines(capsys)
    assert list(line) == ["timestamp", "level", "table", "boot", "part", "event", "place"]
    assert (line["table"], line["boot"], line["part"]) == ("T01", "ab12", "machine")
    assert (line["level"], line["event"], line["place"]) == ("warning", "jam", "gate")


def test_lines_of_other_libraries_look_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    logging_setup.log_to_stderr()
    logging_setup.add_log_context(part="gateway")

    logging.getLogger("asyncio").error("a task was\nlost")

    (line,) = lines(capsys)
    assert (line["event"], line["part"]) == ("a task was\nlost", "gateway")


def test_below_the_level_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    logging_setup.log_to_stderr(logging_setup.LOG_LEVELS["error"])
    LOUD.warning("not now")
    LOUD.error("now")
    assert [line["event"] for line in lines(capsys)] == ["now"]


def test_at_debug_the_drivers_say_all_and_other_libraries_no_more_than_usual(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logging_setup.log_to_stderr(logging_setup.LOG_LEVELS["debug"])
    for library in ("drivers.link", "asyncio"):
        logging.getLogger(library).debug("frame of %s", library)
    assert [line["event"] for line in lines(capsys)] == ["frame of drivers.link"]


def test_raw_bytes_are_told_by_their_number_alone(capsys: pytest.CaptureFixture[str]) -> None:
    logging_setup.log_to_stderr()
    LOUD.info("key", key=bytes.fromhex(SECRET), view=bytearray(3))
    (line,) = lines(capsys)
    assert (line["key"], line["view"]) == ("(15 bytes)", "(3 bytes)")


@pytest.mark.parametrize("terminal", [False, True])
def test_the_trace_of_a_failure_has_no_values(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    logging_setup.log_to_stderr()
    try:
        fail_with_a_secret()
    except ValueError:
        LOUD.exception("failed")
        logging.getLogger("asyncio").exception("failed, too")

    said = capsys.readouterr().err
    assert said.count("30 characters") == 2
    assert said.count("fail_with_a_secret") >= 2
    assert SECRET not in said


def test_no_process_of_a_table_loads_what_only_draws_and_a_command_that_draws_still_can() -> None:
    code = (
        "import sys; import controller.service.machine_process, controller.gateway.gateway;"
        "assert not {'rich', 'pygments'} & set(sys.modules);"
        "import sim.cli.demo_view; assert sys.modules['rich'].__name__ == 'rich'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

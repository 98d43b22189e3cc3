import ctypes
import errno
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pytest_mock import MockerFixture

from controller import cli
from controller.cli import COMMAND_ENTRIES, CliError, LazyGroup, main
from controller.service import sandbox


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_the_help_names_every_command() -> None:
    shown = run("--help")
    assert shown.exit_code == 0
    for name, line in COMMAND_ENTRIES.items():
        assert f"{name} " in shown.stdout
        assert line in shown.stdout


def test_the_help_imports_no_command_and_nothing_heavy() -> None:
    code = (
        "import sys; from controller.cli import main; main(['--help'], standalone_mode=False);"
        "heavy = {'msgspec', 'zmq', 'structlog', 'rich', 'serial', 'gpiozero', 'nacl'};"
        "ours = {m for m in sys.modules if m.startswith(('controller.', 'drivers', 'sim'))};"
        "assert ours == {'controller.cli'}, ours;"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_every_command_of_the_table_exists_and_has_its_help(subtests: pytest.Subtests) -> None:
    for name in COMMAND_ENTRIES:
        with subtests.test(name):
            shown = run(name, "--help")
            assert shown.exit_code == 0, shown.output
            assert f"Usage: main {name}" in shown.stdout


def test_a_mistyped_command_is_told_the_likeliest() -> None:
    told = run("chek-config")
    assert told.exit_code == 2
    assert 'did you mean "check-config"?' in told.stderr


def test_an_unknown_command_is_refused() -> None:
    assert run("zzz").exit_code == 2


@pytest.mark.parametrize("name", ["demo", "sim"])
def test_without_the_simulator_its_commands_say_so_in_one_line(
    name: str, mocker: MockerFixture
) -> None:
    mocker.patch.object(importlib.util, "find_spec", return_value=None)
    told = run(name)
    assert told.exit_code == 2
    assert told.stderr == (
        f"Error: dealtable {name} needs the simulator: install dealtable-sim beside dealtable\n"
    )


PROGRAM = "from controller.cli import main; main()"
WRITERS = [
    ("judge", "--level", "2", "S34567"),
    ("judge", "--level", "2", "4", "3", "--json"),
    ("schema",),
    ("judge", "--help"),
]


def process(*words: str, **settings: str) -> list[str]:
    surroundings = [f"{name}={value}" for name, value in settings.items()]
    return ["env", *surroundings, sys.executable, "-c", PROGRAM, *words]


@pytest.mark.parametrize("encoding", ["gbk", "latin-1"])
def test_signs_that_an_encoding_lacks_are_written_as_their_numbers(encoding: str) -> None:
    for play, code in (("♠34567", 0), ("♠3♥5", 1), ("♠♠", 2)):
        words = process("judge", "--level", "2", play, PYTHONIOENCODING=encoding)
        told = subprocess.run(words, capture_output=True, check=False)
        assert told.returncode == code, told.stderr
        assert rb"\u2660" in told.stdout + told.stderr
        assert b"Traceback" not in told.stderr


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("words", WRITERS)
def test_output_that_cannot_be_written_is_told_in_one_line_and_is_no_verdict(
    words: tuple[str, ...], buffered: str
) -> None:
    command = process(*words, PYTHONUNBUFFERED=buffered)
    with open("/dev/full", "w") as full:
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert told.returncode == 2
        assert told.stderr == (b"Error: the output cannot be written: No space left on device\n")
        assert subprocess.run(command, stdout=full, stderr=full, check=False).returncode == 2


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("words", WRITERS)
def test_output_that_nobody_reads_is_left_quietly_and_without_a_verdict(
    words: tuple[str, ...], buffered: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        command = process(*words, PYTHONUNBUFFERED=buffered)
        told = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (told.returncode, told.stderr) == (141, b"")


def test_a_failure_that_is_not_the_outputs_is_not_hidden(mocker: MockerFixture) -> None:
    mocker.patch.object(LazyGroup, "get_command", side_effect=OSError(28, "of something else"))
    told = run("schema")
    assert isinstance(told.exception, OSError)


def test_a_line_is_one_line_whatever_was_typed() -> None:
    told = run("rules", "a\nb\x1b[31m")
    assert told.exit_code == 2
    assert told.stderr.count("\n") == 1
    assert told.stderr.removesuffix("\n").isprintable()
    with pytest.raises(CliError) as line:
        raise CliError("a\nb\x1b")
    assert line.value.format_message() == "a·b·"


def test_check_config_says_what_each_file_sets_up(pytestconfig: pytest.Config) -> None:
    deploy = pytestconfig.rootpath / "deploy"
    files = ("table.toml", "sim.toml", "barcode.toml")
    shown = run("check-config", *(str(deploy / name) for name in files))
    assert shown.exit_code == 0, shown.output
    table, simulated, reader = shown.stdout.splitlines()
    assert "table T01, real boards" in table
    assert "rules provisional: dealtable rules international-000" in table
    assert "simulated table T01" in simulated
    assert "0 of 54 faces of back A" in reader


def test_check_config_says_what_an_event_settles(pytestconfig: pytest.Config) -> None:
    shown = run("check-config", str(pytestconfig.rootpath / "deploy" / "event.toml"))
    assert shown.exit_code == 0, shown.output
    assert "event Spring Cup 2027, profile international-000: 7 rules settled" in shown.stdout


def test_check_config_tells_an_event_of_an_unknown_rulebook_in_one_line(tmp_path: Path) -> None:
    event = tmp_path / "event.toml"
    event.write_text('profile = "chess"\norganizer = "us"\n')
    shown = run("check-config", str(event))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.count("\n") == 1


def test_check_config_checks_every_file_and_exits_2(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    wrong = tmp_path / "table.toml"
    wrong.write_text("[table]\n")
    told = run("check-config", str(wrong), str(pytestconfig.rootpath / "deploy" / "table.toml"))
    assert told.exit_code == 2
    assert told.stderr == f"Error: {wrong}: table.id: missing, expected a name of at most 24 " + (
        "letters, digits, - and _\n"
    )
    assert "table T01" in told.stdout


def test_check_config_finds_a_profile_that_does_not_exist(
    pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    example = (pytestconfig.rootpath / "deploy" / "table.toml").read_text()
    file = tmp_path / "table.toml"
    file.write_text(example.replace("international-000", "whist"))
    told = run("check-config", str(file))
    assert told.exit_code == 2
    assert 'profile "whist"' in told.stderr


def test_schema_prints_one_document_with_every_public_message() -> None:
    document = json.loads(run("schema").stdout)
    assert document["$schema"].endswith("2020-12/schema")
    assert {"state", "event", "command", "reply"} <= set(document["$defs"])


def test_schema_of_one_message_refers_to_its_parts_only() -> None:
    document = json.loads(run("schema", "state").stdout)
    assert document["$ref"] == "#/$defs/PublicState"
    assert {"PublicMachine", "PublicMatch", "Fairness"} <= set(document["$defs"])
    assert not {"CutEvent", "CutCommand", "RefusedReply"} & set(document["$defs"])


def test_a_refused_prctl_is_reported_as_one_and_not_as_failed_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Refusing:
        """A kernel that refuses everything."""

        @staticmethod
        def prctl(*words: object) -> int:
            ctypes.set_errno(errno.EPERM)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *name, **how: Refusing)
    with pytest.raises(PermissionError, match="prctl") as refused:
        sandbox._prctl(0, 1)
    assert not cli._is_output_failure(refused.value)
    told = run("run", "machine", "--config", "table.toml")
    assert told.exit_code == 2
    assert told.stderr == (
        "Error: the kernel refuses to protect this process: prctl: Operation not permitted; "
        "a container or a filter of system calls has to allow it\n"
    )

"""Where a command finds a table, and whose word it takes for the table's key."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from controller.cli import CliError, send, sheet, transfer, watch
from controller.cli.table_access import find_watch_targets, read_table_endpoints
from controller.client.discovery import Endpoints, write_endpoints
from controller.keys.table_keys import create_table_keys
from controller.roster import KEYS_FOLDER, read_certificate


@pytest.fixture
def own(tmp_path: Path) -> Endpoints:
    """The state directory of a table whose gateway runs, as far as its file says."""
    create_table_keys(tmp_path / "state")
    table = read_certificate(tmp_path / "state" / KEYS_FOLDER / "table.key")
    where = Endpoints(
        table="T01", feed="tcp://127.0.0.1:1", commands="tcp://127.0.0.1:2", server_key=table.curve
    )
    write_endpoints(tmp_path / "state", where)
    return where


@pytest.fixture
def redirected(own: Endpoints, tmp_path: Path) -> Path:
    """The same, once its gateway was taken over and wrote another table's key there."""
    create_table_keys(tmp_path / "other")
    other = read_certificate(tmp_path / "other" / KEYS_FOLDER / "table.key")
    write_endpoints(tmp_path / "state", replace(own, server_key=other.curve))
    return tmp_path / "state"


def test_a_table_is_where_its_gateway_says_under_the_key_that_its_folder_has(
    own: Endpoints, tmp_path: Path
) -> None:
    assert read_table_endpoints(tmp_path / "state") == own


def test_a_gateway_that_names_another_tables_key_is_told_in_one_line(redirected: Path) -> None:
    with pytest.raises(CliError, match=r"endpoints\.json: names another table's key than") as told:
        read_table_endpoints(redirected)
    assert "\n" not in told.value.format_message()
    with pytest.raises(CliError, match="names another table's key"):
        find_watch_targets([], [redirected], [], None)


def test_watch_comes_with_a_key_of_its_own_and_to_an_older_table_as_its_observer(
    own: Endpoints, tmp_path: Path
) -> None:
    state_dir = tmp_path / "state"
    assert find_watch_targets([], [state_dir], [], None)[0].identity.name == "watch"
    (state_dir / "clients" / "watch.key_secret").unlink()
    assert find_watch_targets([], [state_dir], [], None)[0].identity.name == "observer"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (send.command, ["hold", "reason=tea", "--as", "chief", "--state-dir", "{}"]),
        (sheet.command, ["--state-dir", "{}"]),
        (watch.command, ["--state-dir", "{}"]),
        (transfer.command, ["--from", "{}", "--table", "T02", "--file", "{}/match.json"]),
    ],
    ids=["send", "sheet", "watch", "transfer"],
)
def test_no_command_goes_where_another_tables_key_is_named(
    redirected: Path, command: object, words: list[str]
) -> None:
    result = CliRunner().invoke(command, [word.format(redirected) for word in words])  # type: ignore[arg-type] # a click command
    assert result.exit_code == 2
    assert result.output.startswith(f"Error: {redirected}/endpoints.json: names another table's")
    assert result.output.count("\n") == 1


def test_a_folder_without_the_tables_key_is_no_tables(own: Endpoints, tmp_path: Path) -> None:
    (tmp_path / "state" / KEYS_FOLDER / "table.key").unlink()
    with pytest.raises(CliError, match=r"keys/table\.key"):
        read_table_endpoints(tmp_path / "state")


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (["hold", "--as", "nobody"], 2, "has no nobody.key_secret: --as takes "),
        (["hold", "--as", "nobody", "--language", "zh"], 2, "中没有 nobody.key_secret：--as 可用 "),
        (["snapshot", "--answer-s", "0.1"], 1, "no answer: tcp://127.0.0.1:2: no answer in 0.1 s"),
        (["snapshot", "--answer-s", "0.1", "--language", "zh"], 1, "没有应答，"),
    ],
)
@pytest.mark.usefixtures("own")
def test_a_table_that_cannot_be_asked_is_told_in_the_chosen_language(
    tmp_path: Path, words: list[str], exit_code: int, said: str
) -> None:
    result = CliRunner().invoke(send.command, [*words, "--state-dir", str(tmp_path / "state")])
    assert (result.exit_code, said in result.output) == (exit_code, True)

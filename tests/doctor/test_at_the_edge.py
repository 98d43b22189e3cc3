"""What only the command line may ask: libraries, keys, ports without boards, a feed."""

import socket
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.cli.doctor import ask_boards, gather_feed, gather_keys, import_libraries
from controller.client.discovery import Endpoints, write_endpoints
from controller.config import GatewaySection, TableConfig
from controller.doctor.computer_facts import Computer
from controller.keys.table_keys import create_table_keys
from controller.roster import read_certificate
from tests.doctor.healthy import CONFIG


@pytest.fixture
def config(tmp_path: Path) -> TableConfig:
    """A table of one user, whose keys are there and whose ports are not."""
    table = replace(CONFIG.table, state_dir=tmp_path / "state", user=None)
    dealer = replace(CONFIG.dealer, port=str(tmp_path / "dealer"))
    reader = replace(CONFIG.reader, port=str(tmp_path / "reader"))
    table.state_dir.mkdir()
    create_table_keys(table.state_dir)
    return replace(CONFIG, table=table, gateway=GatewaySection(), dealer=dealer, reader=reader)


def test_libraries_are_imported_apart_and_those_that_are_not_there_are_named() -> None:
    zmq, none = import_libraries(("zmq", "no_such_library"))
    assert (zmq.curve, zmq.trouble) == (True, "")
    assert zmq.version
    assert "no_such_library" in none.trouble


def test_a_table_with_keys_of_its_own_has_a_chief(config: TableConfig) -> None:
    known = gather_keys(config)
    assert (known.chiefs, known.trouble, known.are_missing) == (1, "", False)
    assert known.clients > 1


def test_a_table_without_keys_and_one_that_lost_some_are_told_apart(config: TableConfig) -> None:
    folder = config.table.state_dir
    elsewhere = replace(config, table=replace(config.table, state_dir=folder / "other"))
    assert gather_keys(elsewhere).are_missing
    (folder / "keys" / "table.sign").unlink()
    assert "table.sign" in gather_keys(config).trouble


def test_a_chief_who_is_no_longer_admitted_is_missed(config: TableConfig) -> None:
    (config.table.state_dir / "admitted" / "chief.key").unlink()
    assert gather_keys(config).chiefs == 0


def test_ports_without_boards_are_told_in_the_catalogues_words(config: TableConfig) -> None:
    told = ask_boards(config)
    assert {one.fault for one in told.values()} == {"PORT_MISSING"}
    assert config.reader.port in told["reader"].cause


def test_a_feed_that_nobody_serves_any_more_is_told(config: TableConfig) -> None:
    folder = config.table.state_dir
    assert gather_feed(config, Computer()).address is None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        key = read_certificate(folder / "keys" / "table.key").curve
        write_endpoints(
            folder, Endpoints(table="T01", feed=address, commands=address, server_key=key)
        )
        for file in (folder / "clients").iterdir():
            file.unlink()
        stale = gather_feed(config, Computer())
        assert "no answer there" in stale.trouble
        free.listen()
        assert gather_feed(config, Computer()).has_no_key
    other = Endpoints(table="T01", feed=address, commands=address, server_key="0" * 40)
    write_endpoints(folder, other)
    assert "another table's key" in gather_feed(config, Computer()).trouble

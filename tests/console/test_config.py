"""console.toml and the tables.toml beside it: read, written, refused in a line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config import ConfigError
from controller.console.console_config import (
    TABLES_FILE,
    ConfiguredTable,
    ConsoleSettings,
    load_console_config,
    read_tables,
    write_tables,
)

TABLE = ConfiguredTable(
    id="T01",
    feed="tcp://192.168.1.11:5556",
    commands="tcp://192.168.1.11:5557",
    server_key="rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
)
LINES = f"""
[[tables]]
id = "T01"
feed = "{TABLE.feed}"
commands = "{TABLE.commands}"
server_key = '{TABLE.server_key}'
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a console.toml goes."""
    return tmp_path / "console.toml"


def test_what_is_not_said_is_for_one_computer_alone(file: Path) -> None:
    file.write_text("[console]\n")
    config = load_console_config(file)
    assert config.tables == ()
    own = config.console
    assert (own.host, own.port) == ("127.0.0.1", 8080)
    assert own.keys == file.parent / "keys"
    assert own.store == f"sqlite:///{file.parent / 'console.db'}"
    assert own.invitation_h == 24
    assert not own.is_unencrypted_on_network


def test_tables_of_both_files_are_its_tables_and_the_persons_word_counts(file: Path) -> None:
    file.write_text("[console]\n" + LINES + 'area = "B"\n')
    more = ConfiguredTable(id="T02", feed=TABLE.feed, commands=TABLE.commands, server_key="k" * 40)
    write_tables(file.parent / TABLES_FILE, (TABLE, more))
    config = load_console_config(file)
    assert [(table.id, table.area) for table in config.tables] == [("T01", "B"), ("T02", "A")]


def test_a_table_may_have_keys_of_its_own(file: Path) -> None:
    file.write_text("[console]\n" + LINES + 'keys = "other"\n')
    config = load_console_config(file)
    (table,) = config.tables
    assert config.key_folder_of(table) == file.parent / "other"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "console"),
        ("[console]\nlisten = 80\n", "listen"),
        ('[console]\nlisten = "127.0.0.1:99999"\n', "65535"),
        ('[console]\nport = "8080"\n', "port"),
        ('[console]\ntls_key = "hall.key"\n', "both or neither"),
        ('[console]\npublic_url = "hall"\n', "public_url"),
        ("[console]\ninvitation_h = 0\n", "invitation_h"),
        ("[console]\ninvitation_h = 10000\n", "720"),
        ("[console]\n" + LINES + LINES, r"tables\[1\].id"),
        ("[console]\n" + LINES.replace("tcp://", "http://"), "tcp://"),
        ("[console]\n" + LINES.replace("rq:rM", ""), "40 characters"),
        ("[console]\n" + LINES + 'area = "a/b"\n', "area"),
        ("[console]\n" + LINES + 'verify = "00"\n', "64 hex"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_it(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=said) as raised:
        load_console_config(file)
    assert "\n" not in str(raised.value)
    assert str(file) in str(raised.value)


def test_a_tables_file_that_is_wrong_is_named(file: Path) -> None:
    file.write_text("[console]\n")
    (file.parent / TABLES_FILE).write_text('[[tables]]\nid = "T01"\n')
    with pytest.raises(ConfigError, match=r"tables\.toml"):
        load_console_config(file)


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,23}", fullmatch=True)
lines = st.builds(
    ConfiguredTable,
    id=names,
    area=st.from_regex(r"[\w\"'\\ 区]{1,20}", fullmatch=True).map(str.strip).filter(bool),
    feed=st.just(TABLE.feed),
    commands=st.just(TABLE.commands),
    server_key=st.text("aZ9.-:+=^!/*?&<>()[]{}@%$#", min_size=40, max_size=40),
    verify=st.none() | st.text("0123456789abcdef", min_size=64, max_size=64),
    keys=st.none() | st.just(Path("/var/keys")),
)


@given(tables=st.lists(lines, max_size=5, unique_by=lambda table: table.id))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, tables: list[ConfiguredTable]
) -> None:
    file = tmp_path_factory.mktemp("tables") / TABLES_FILE
    write_tables(file, tuple(tables))
    assert read_tables(file) == tuple(tables)


@pytest.mark.parametrize(
    ("listen", "host", "warned"),
    [
        ("127.0.0.1:0", "127.0.0.1", False),
        ("localhost:80", "localhost", False),
        ("[::1]:8080", "::1", False),
        ("0.0.0.0:8080", "0.0.0.0", True),
        ("[::]:8080", "::", True),
        ("hall.local:8080", "hall.local", True),
    ],
)
def test_pins_are_warned_of_where_others_can_hear_them(
    listen: str, host: str, warned: bool
) -> None:
    own = ConsoleSettings(listen=listen)
    assert (own.host, own.is_unencrypted_on_network) == (host, warned)
    sealed = ConsoleSettings(listen=listen, tls_cert=Path("a"), tls_key=Path("b"))
    assert not sealed.is_unencrypted_on_network

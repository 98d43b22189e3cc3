"""The configuration of a console: console.toml, and tables.toml beside it.

A person writes console.toml. The set-up page writes tables.toml, which has only [[tables]]. For a
table in both files, console.toml counts. Relative paths start at the folder of the file.
"""

import ipaddress
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, field

from controller.config import ConfigError, NonEmptyText, ShortName, matching
from controller.host import toml_files
from controller.host.atomic_files import replace_file

TABLES_FILE: Final = "tables.toml"
_MODE: Final = 0o640

ListenAddress = Annotated[
    str,
    matching(
        r"^([^\s/:\[\]]+|\[[0-9a-fA-F:]+\]):\d{1,5}$",
        'an address and port like "127.0.0.1:8080" (port 0: any free port)',
    ),
]
TcpAddress = Annotated[
    str, matching(r"^tcp://[^\s/]+:\d{1,5}$", 'an address like "tcp://192.168.1.11:5556"')
]
ServerPublicKey = Annotated[
    str,
    matching(
        r"^[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}$",
        "the table's public-key, 40 characters, from its keys/table.key",
    ),
]
VerifyKey = Annotated[
    str,
    matching("^[0-9a-f]{64}$", "the table's verify key, 64 hex digits, from its keys/table.key"),
]
Origin = Annotated[
    str,
    matching(r"^https?://[^\s/]+$", 'an address like "http://192.168.1.5:8080", without a path'),
]
InvitationHours = Annotated[int, Meta(ge=1, le=720, description="1 to 720 hours")]
AreaName = Annotated[
    str,
    matching(
        r"^[^\x00-\x1f\x7f/\s](?:[^\x00-\x1f\x7f/]{0,22}[^\x00-\x1f\x7f/\s])?$",
        'the name of an area, 1 to 24 characters, as "A"',
    ),
]


class ConsoleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of the console itself.

    `keys` is the folder of the keys with which the console connects to tables: observer.key_secret,
    referee.key_secret, chief.key_secret, technician.key_secret, table.key_secret. The console needs
    observer.key_secret, and the key of each role that a person has at this console. `store` is the
    URL of a database in SQLAlchemy's form. The path of a SQLite file is relative to the folder of
    console.toml. `tls_cert` and `tls_key` are PEM files. Without them the console uses HTTP without
    encryption. `public_url` is the address in the QR codes for players' telephones. `invitation_h`
    is the number of hours for which an invitation code is valid. `events` are the files with the
    regulations of tournaments. The console compares the programs of the tables with the manifest
    `release`, and checks the signature of this manifest with the key `release_key`.
    """

    name: NonEmptyText = "dealtable"
    listen: ListenAddress = "127.0.0.1:8080"
    store: NonEmptyText = "sqlite:///console.db"
    keys: Path = Path("keys")
    tls_cert: Path | None = None
    tls_key: Path | None = None
    public_url: Origin | None = None
    invitation_h: InvitationHours = 24
    events: tuple[Path, ...] = ()
    release: Path | None = None
    release_key: Path | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a port above 65535, for only one of `tls_cert` and `tls_key`, or for
        `release_key` without `release`.
        """
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key belong together, expected both or neither")
        if self.release is None and self.release_key is not None:
            raise ValueError("release_key is set without release, expected its signed manifest")
        if self.port > 0xFFFF:
            raise ValueError(f"listen: port {self.port}, expected one up to 65535")

    @property
    def host(self) -> str:
        """Return the host name or address at which the console listens, without brackets."""
        return self.listen.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """Return the port at which the console listens; 0 means any free port."""
        return int(self.listen.rpartition(":")[2])

    @property
    def is_unencrypted_on_network(self) -> bool:
        """Return whether other computers can connect without TLS: their PINs are not encrypted."""
        if self.tls_cert is not None or self.host == "localhost":
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # A name, which may be the name of another computer.
            return True


class ConfiguredTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table: its addresses and its keys.

    `server_key` is the table's public key for encryption (CURVE). `verify` is its public key for
    signatures (Ed25519). If you do not have this key, leave `verify` out. `keys` is a folder with
    keys that the console uses for this table only.
    """

    id: ShortName
    feed: TcpAddress
    commands: TcpAddress
    server_key: ServerPublicKey
    area: AreaName = "A"
    verify: VerifyKey | None = None
    keys: Path | None = None


class ConsoleConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a console.toml, and the tables of the tables.toml beside it."""

    console: ConsoleSettings
    tables: tuple[ConfiguredTable, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if two tables have the same id."""
        _refuse_duplicates(self.tables)

    def key_folder_of(self, table: ConfiguredTable) -> Path:
        """Return the folder of the keys with which the console connects to a table."""
        return table.keys or self.console.keys


class _TablesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a tables.toml."""

    tables: tuple[ConfiguredTable, ...] = field(default=())

    def __post_init__(self) -> None:
        _refuse_duplicates(self.tables)


def load_console_config(path: Path) -> ConsoleConfig:
    """Return the configuration in a console.toml, with the tables of tables.toml beside it.

    Raises ConfigError with one line of text.
    """
    raw = toml_files.parse_tables(
        toml_files.read_text(path, ConfigError), ConfigError, name=str(path)
    )
    own = raw.get("console")
    if isinstance(own, dict):
        own.setdefault("keys", "keys")
    config = toml_files.convert_tables(
        raw, ConsoleConfig, ConfigError, name=str(path), folder=path.parent
    )
    console = config.console
    head, slashes, file = console.store.partition(":///")
    if head.startswith("sqlite") and slashes and file and not file.startswith("/"):
        store = f"{head}:///{(path.parent / file).absolute()}"
        console = msgspec.structs.replace(console, store=store)
    beside = path.parent / TABLES_FILE
    said = {table.id for table in config.tables}
    more = tuple(table for table in read_tables(beside) if table.id not in said)
    return ConsoleConfig(console, config.tables + more)


def read_tables(path: Path) -> tuple[ConfiguredTable, ...]:
    """Return the tables of a tables.toml, or () if there is no such file. Raises ConfigError."""
    if not path.exists():
        return ()
    return toml_files.read(path, _TablesFile, ConfigError).tables


def write_tables(path: Path, tables: tuple[ConfiguredTable, ...]) -> None:
    """Write `tables` to a tables.toml, and replace the whole file in one step. Raises OSError."""
    lines = ["# The console's set-up page writes this file. A table in console.toml has priority."]
    for table in tables:
        lines += ["", "[[tables]]"]
        values = msgspec.to_builtins(table, enc_hook=str)
        # A basic string of TOML has the same escapes as JSON.
        lines += [
            f"{key} = {msgspec.json.encode(value).decode()}"
            for key, value in values.items()
            if value is not None
        ]
    replace_file(path, ("\n".join(lines) + "\n").encode(), _MODE)


def _refuse_duplicates(tables: tuple[ConfiguredTable, ...]) -> None:
    first: dict[str, int] = {}
    for number, table in enumerate(tables):
        known = first.setdefault(table.id, number)
        if known != number:
            raise ValueError(f"tables[{number}].id: expected another id than tables[{known}] has")

"""How a command finds a table: its addresses, its key, and whose key to come with."""

from pathlib import Path

from nacl.utils import random as entropy

from controller.cli import CliError
from controller.client.client import ClientIdentity
from controller.client.endpoints import ENDPOINTS_FILE as ENDPOINTS
from controller.client.endpoints import Endpoints, NoEndpoints, read_endpoints
from controller.roster import CLIENTS_FOLDER, KEYS_FOLDER, TABLE_NAME, RosterError, read_certificate


def read_table_endpoints(state_dir: Path) -> Endpoints:
    """Return where the table of a state directory is.

    Its key is that of keys/table.key: endpoints.json is the gateway's to write, and an order that
    is signed for another table acts there. Raises LineError, also where the two differ.
    """
    file = state_dir / KEYS_FOLDER / f"{TABLE_NAME}.key"
    try:
        told = read_endpoints(state_dir)
        own = read_certificate(file).curve
    except (NoEndpoints, RosterError) as error:
        raise CliError(str(error)) from error
    if told.server_key != own:
        raise CliError(
            f"{state_dir / ENDPOINTS}: names another table's key than {file}: restart the gateway; "
            "if it says so again, somebody else writes there"
        )
    return told


def read_client_identity(state_dir: Path, name: str) -> ClientIdentity:
    """Return the client `name` of a state directory's clients/. Raises LineError."""
    return read_identity(state_dir / CLIENTS_FOLDER / f"{name}.key_secret")


def read_identity(secret_file: Path) -> ClientIdentity:
    """Return whom a secret certificate makes of its holder. Raises LineError."""
    try:
        certificate = read_certificate(secret_file)
    except RosterError as error:
        raise CliError(str(error)) from error
    if certificate.curve_secret is None:
        raise CliError(f"{secret_file}: holds no secret-key; name the .key_secret file")
    return ClientIdentity(
        certificate.name, certificate.curve, certificate.curve_secret, certificate.sign
    )


def read_table_key(key_or_file: str) -> str:
    """Return a table's public key in Z85, given as it is or as a file. Raises LineError."""
    file = Path(key_or_file)
    if not file.exists():
        return key_or_file
    try:
        return read_certificate(file).curve
    except RosterError as error:
        raise CliError(str(error)) from error


def new_command_id() -> str:
    """Return a command id that no other command has."""
    return entropy(12).hex()

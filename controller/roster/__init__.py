"""The clients that may connect to a table and send commands, as their certificates allow.

A certificate is a file in pyzmq's format (ZPL: `section`, then indented `key = value` lines). This
package reads it without ZeroMQ, because the machine, which checks commands, has no network.

    admitted/*.key   clients that may connect and give commands
    revoked/*.key    revoked keys: never admitted again, whatever is in admitted/
    clients/         key pairs that were made on this computer
    keys/            the table's own keys
"""

from controller.roster.certificate import (
    KEYS_FOLDER,
    TABLE_NAME,
    Certificate,
    RosterError,
    fingerprint,
    has_valid_proof,
    parse_certificate,
    parse_moment,
    read_certificate,
    read_sign_file,
    read_sign_secret,
    sign_certificate,
)
from controller.roster.roster import (
    ADMITTED_FOLDER,
    CLIENTS_FOLDER,
    REVOKED_FOLDER,
    WATCH_CLIENT,
    FolderRoster,
    NotAdmitted,
    Roster,
)

__all__ = [
    "ADMITTED_FOLDER",
    "CLIENTS_FOLDER",
    "KEYS_FOLDER",
    "REVOKED_FOLDER",
    "TABLE_NAME",
    "WATCH_CLIENT",
    "Certificate",
    "FolderRoster",
    "NotAdmitted",
    "Roster",
    "RosterError",
    "fingerprint",
    "has_valid_proof",
    "parse_certificate",
    "parse_moment",
    "read_certificate",
    "read_sign_file",
    "read_sign_secret",
    "sign_certificate",
]

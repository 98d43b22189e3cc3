"""Who may give orders at a table: the admitted clients, out of their certificates.

A certificate is a file in pyzmq's format (ZPL: `section`, then `    key = value`). It is
read here without ZeroMQ, because the machine, which checks orders, has no network.

    admitted/*.key   who may connect and give orders
    revoked/*.key    whose key was taken away: never admitted again, whatever lies in admitted/
    clients/         pairs that were made on this computer
    keys/            the table's own
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

# Exported by its own name: in a list of words it would read as a fault.
from controller.roster.certificate import SIGN_FILE as SIGN_FILE
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

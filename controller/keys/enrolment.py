"""The admitted clients of a table: enrolment, renewal and revocation of their keys.

    admitted/NAME.key                  clients that may connect and send commands
    revoked/NAME-FINGERPRINT.key       revoked clients, with time and reason

The machine and the gateway watch both folders while they run. A revoked key stays revoked, even if
its file is put back into admitted/.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from controller.host.atomic_files import replace_file, write_new_file
from controller.keys.certificate_files import PUBLIC_MODE, make_folder_like, public_text
from controller.roster import (
    ADMITTED_FOLDER,
    REVOKED_FOLDER,
    Certificate,
    Roster,
    RosterError,
    fingerprint,
    has_valid_proof,
    read_certificate,
)
from controller.roster.roster import find_clash, format_moment


def admit_file(folder: Path, public_file: Path, expires: datetime | None = None) -> Path:
    """Admit the client in `public_file`, and return the path of the client's file in admitted/."""
    return enrol_client(folder, read_client_file(public_file), expires)


def enrol_client(folder: Path, client: Certificate, expires: datetime | None = None) -> Path:
    """Admit a client, and return the path of the client's file in admitted/.

    If these keys are admitted already, only their expiry date is set. `expires` is the table's own
    date. Without it the date in the client's file (or in admitted/) applies. Raises OSError. Raises
    RosterError for a revoked key, and for a name or key that another client has.
    """
    roster = Roster.load(folder)
    for path, there in _admitted_files(folder):
        if _without_table_fields(there) == _without_table_fields(client):
            replace_file(path, public_text(_with_expiry(there, expires)).encode(), PUBLIC_MODE)
            return path
    _refuse_clash(client, roster)
    return _write_admitted(folder, _with_expiry(client, expires))


def renew_client(folder: Path, client: Certificate, ends: datetime) -> Sequence[Certificate]:
    """Admit a client's new keys, end its old keys at `ends`, and return the old certificates.

    An old key that already expires earlier keeps its date. Raises OSError
    and RosterError as `enrol_client` does. Raises RosterError also if no client of that name and
    role is admitted.
    """
    roster = Roster.load(folder)
    old = [
        (path, there)
        for path, there in _admitted_files(folder)
        if there.name == client.name and there.curve != client.curve
    ]
    if not old:
        raise RosterError(f"{client.name} has no key here that could be renewed: `keys admit` it")
    if any(there.role != client.role for _, there in old):
        raise RosterError(f"{client.name} is {old[0][1].role} here, not {client.role}")
    _refuse_clash(client, Roster([], roster.revoked))
    for path, there in old:
        sooner = ends if there.expires is None else min(ends, there.expires)
        replace_file(path, public_text(replace(there, expires=sooner)).encode(), PUBLIC_MODE)
    _refuse_clash(client, Roster.load(folder))
    _write_admitted(folder, client)
    return [there for _, there in old]


def revoke_client(
    folder: Path, name: str, reason: str, now: datetime, mark: str | None = None
) -> Sequence[Certificate]:
    """Revoke all keys of the client `name`, or only the key that has the fingerprint `mark`.

    Return the revoked certificates. Each file is written to revoked/ before it is removed from
    admitted/. Raises OSError, and RosterError if there is no such key.
    """
    found = [
        (path, there)
        for path, there in _admitted_files(folder)
        if there.name == name and mark in (None, fingerprint(there))
    ]
    if not found:
        where = folder / ADMITTED_FOLDER
        raise RosterError(f"{where}: no client is admitted as {name}; see `keys list`")
    for path, there in found:
        gone = replace(there, revoked=now, reason=reason)
        revoked = make_folder_like(folder / REVOKED_FOLDER, folder / ADMITTED_FOLDER)
        place = revoked / f"{name}-{fingerprint(there)}.key"
        replace_file(place, public_text(gone).encode(), PUBLIC_MODE)
        path.unlink()
    return [there for _, there in found]


def read_client_file(public_file: Path) -> Certificate:
    """Return the certificate in a client's public file, after a check of the owner's signature.

    Raises RosterError, also if name, role, keys or end differ from what the owner signed.
    """
    client = read_certificate(public_file)
    if client.role is None or client.has_secrets:
        raise RosterError(f"{public_file}: no client's public certificate: admit its NAME.key")
    if not has_valid_proof(client):
        raise RosterError(
            f"{public_file}: is not as its owner made it (name, role, keys and end are signed): "
            "let the owner bring the NAME.key of `dealtable keys request`"
        )
    return replace(client, revoked=None, reason="", proof=None)


def _refuse_clash(client: Certificate, roster: Roster) -> None:
    gone = roster.revocation_of(client)
    if gone is not None:
        raise RosterError(
            f"{client.name}: this key was revoked on {format_moment(gone.revoked)} "
            f"({gone.reason}): let its owner make a new pair (`dealtable keys request`)"
        )
    # A key with an expiry date would be accepted beside another key of the same name.
    clash = find_clash(replace(client, expires=None), roster.clients)
    if clash is not None:
        raise RosterError(
            f"{client.name}: {clash[0].name}, {clash[0].role}, has the same {clash[1]} here: "
            "choose another name, or renew that key (`dealtable keys rotate`)"
        )


def _write_admitted(folder: Path, client: Certificate) -> Path:
    place = folder / ADMITTED_FOLDER / f"{client.name}.key"
    if place.exists():
        place = place.with_name(f"{client.name}-{fingerprint(client)}.key")
    write_new_file(place, public_text(client).encode(), PUBLIC_MODE)
    return place


def _without_table_fields(client: Certificate) -> Certificate:
    """Return a copy without `expires` and `proof`: files with the same keys may differ in them."""
    return replace(client, expires=None, proof=None)


def _with_expiry(client: Certificate, expires: datetime | None) -> Certificate:
    return client if expires is None else replace(client, expires=expires)


def _admitted_files(folder: Path) -> list[tuple[Path, Certificate]]:
    """Return the readable certificates in admitted/, each with the path of its file.

    A file that cannot be read is skipped, so that it does not prevent a revocation.
    """
    found = []
    for path in sorted((folder / ADMITTED_FOLDER).glob("*.key")):
        with suppress(RosterError):
            found.append((path, read_certificate(path)))
    return found

"""The roster of a table: its admitted clients and the revoked keys.

For a key that may not be used, the roster returns the reason.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

import msgspec

from controller.messages import Role
from controller.roster.certificate import (
    Certificate,
    RosterError,
    fingerprint,
    key_bytes,
    parse_moment,
    read_certificate,
)

ADMITTED_FOLDER: Final = "admitted"
REVOKED_FOLDER: Final = "revoked"
CLIENTS_FOLDER: Final = "clients"
WATCH_CLIENT: Final = "watch"
"""The client whose key `dealtable watch` uses to connect to a table on this computer."""

EXPIRY_WARNING_TIME: Final = timedelta(days=7)
"""The time before the end of a key when it counts as about to expire (provisional)."""


class NotAdmitted(msgspec.Struct, frozen=True):
    """The reason why a key may not be used, as a fault of the catalogue.

    `name` is the owner of the key, for the log. It is "" for an unknown key.
    """

    code: Literal["UNKNOWN_KEY", "KEY_REVOKED", "KEY_EXPIRED", "TOO_MANY"]
    name: str = ""
    found: str = ""

    @property
    def evidence(self) -> dict[str, str]:
        """Return the values for the placeholders in the text of the fault."""
        return {"found": self.found} if self.found else {}


class Roster:
    """The clients of a table and the revoked keys.

    `now` returns the wall clock's time. Without it no key expires.
    """

    def __init__(
        self,
        clients: Iterable[Certificate] = (),
        revoked: Iterable[Certificate] = (),
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._clients, self._revoked, self._now = tuple(clients), tuple(revoked), now

    @staticmethod
    def load(folder: Path) -> "Roster":
        """Return a roster of all certificates in `folder`/admitted/ and `folder`/revoked/.

        Raises RosterError for a file that does not define the rights of a client: wrong form, no
        role, a secret in it, or a key twice.
        """
        clients = [read_admitted(path) for path in key_files(folder / ADMITTED_FOLDER)]
        for client in clients:
            clash = find_clash(client, clients)
            if clash is not None:
                names = " and ".join(sorted({client.name, clash[0].name}))
                raise RosterError(
                    f"{folder / ADMITTED_FOLDER}: {names} have the same {clash[1]}: "
                    "remove one of the files"
                )
        revoked = [read_certificate(path) for path in key_files(folder / REVOKED_FOLDER)]
        return Roster(clients, revoked)

    @property
    def clients(self) -> Sequence[Certificate]:
        """Return the clients in admitted/ without a revoked key. Expired clients are included."""
        return tuple(each for each in self._clients if not self.revocation_of(each))

    @property
    def revoked(self) -> Sequence[Certificate]:
        """Return the revoked certificates."""
        return self._revoked

    def admitted_client(self, verify: bytes | str | None) -> Certificate | None:
        """Return the client with this signing key (raw or hex) if it is admitted now, or None."""
        found = self.look_up_signing_key(verify)
        return found if isinstance(found, Certificate) else None

    def look_up_signing_key(self, verify: bytes | str | None) -> Certificate | NotAdmitted:
        """Return the client with this signing key (raw or hex), or the reason for a refusal."""
        raw = key_bytes(verify)
        return self._look_up(lambda each: each.verify == raw)

    def look_up_curve_key(self, curve: str) -> Certificate | NotAdmitted:
        """Return the client with this public CURVE key (Z85), or the reason for a refusal."""
        return self._look_up(lambda each: each.curve == curve)

    def chief_seals(self) -> tuple[bytes, ...]:
        """Return the public keys (`seal`) that encrypt secrets for the chiefs who are admitted now.

        Each key has 32 bytes. They are in the order of the certificate files.
        """
        return tuple(
            client.seal
            for client in self.clients
            if client.role is Role.CHIEF and client.seal and not self.has_expired(client)
        )

    def has_expired(self, client: Certificate) -> bool:
        """Return True if the certificate of `client` has expired."""
        return bool(client.expires and self._now and client.expires <= self._now())

    def expiring_clients(self) -> Sequence[Certificate]:
        """Return the clients whose certificate expires within a week. Expired ones are left out."""
        if self._now is None:
            return []
        soon = self._now() + EXPIRY_WARNING_TIME
        return [
            each
            for each in self.clients
            if each.expires and each.expires <= soon and not self.has_expired(each)
        ]

    def revocation_of(self, client: Certificate) -> Certificate | None:
        """Return the revoked certificate that shares a key with `client`, or None if none does."""
        return next((each for each in self._revoked if shared_key(each, client)), None)

    def _look_up(self, has_key: Callable[[Certificate], bool]) -> Certificate | NotAdmitted:
        gone = next((each for each in self.revoked if has_key(each)), None)
        if gone is not None:
            said = (format_moment(gone.revoked), gone.reason)
            return NotAdmitted("KEY_REVOKED", gone.name, ", ".join(filter(None, said)))
        found = next((each for each in self.clients if has_key(each)), None)
        if found is None:
            return NotAdmitted("UNKNOWN_KEY")
        if self.has_expired(found):
            return NotAdmitted("KEY_EXPIRED", found.name, format_moment(found.expires))
        return found


def read_admitted(path: Path) -> Certificate:
    """Return the client's public certificate that the file at `path` contains.

    Raises RosterError, also for a certificate without a role or with a secret.
    """
    certificate = read_certificate(path)
    if certificate.role is None:
        raise RosterError(f"{path}: role is missing: a client needs one of {', '.join(Role)}")
    if certificate.has_secrets:
        raise RosterError(f"{path}: holds a secret key: admit the public file, and make a new pair")
    return certificate


def shared_key(one: Certificate, other: Certificate) -> str | None:
    """Return the kind ("verify", "curve", "seal") of a key that two certificates share, or None."""
    for kind in ("verify", "curve", "seal"):
        key = getattr(one, kind)
        if key and key == getattr(other, kind):
            return kind
    return None


def find_clash(
    client: Certificate, others: Iterable[Certificate]
) -> tuple[Certificate, str] | None:
    """Return the first of `others` that conflicts with `client`, with the name of the field that
    they share, or None if no client conflicts.

    The field is "verify", "curve", "seal" or "name". A name may occur twice while a key is renewed:
    with the same role, and at most one without an end.
    """
    for other in others:
        if other is client:
            continue
        key = shared_key(client, other)
        if key is not None:
            return other, key
        renewed = client.role == other.role and (client.expires or other.expires)
        if client.name == other.name and not renewed:
            return other, "name"
    return None


def key_files(folder: Path) -> list[Path]:
    """Return the certificate files in a folder.

    The list is empty if there is no such folder. Raises RosterError if the folder cannot be read,
    because its clients are then unknown.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.name.endswith(".key"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RosterError(f"{folder}: {error.strerror}") from error


def format_moment(moment: datetime | None) -> str:
    """Return a time as text for people, or "" for None."""
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M UTC")


class FolderRoster(Roster):
    """A roster that reads its folder again when a file in it changes.

    `wall` returns the wall clock's stamp. `on_read` is called each time the folder is
    read again, with its errors. A file in admitted/ without valid contents admits no client, and
    does not affect other clients. A file in revoked/ revokes the clients that match it by file name
    or by a key in it. If it matches no client, no client is admitted until the file is corrected,
    because its purpose is to keep somebody out. Raises RosterError if the folder has errors at the
    start.
    """

    def __init__(
        self,
        folder: Path,
        wall: Callable[[], str],
        on_read: Callable[["FolderRoster", Sequence[RosterError]], None] = lambda roster, wrong: (
            None
        ),
    ) -> None:
        self._folder, self._on_read = folder, on_read
        self._last_content = _folder_content(folder)
        first = Roster.load(folder)
        super().__init__(first.clients, first.revoked, lambda: parse_moment(wall()))
        self._without_clashes: Sequence[Certificate] = self._clients

    @property
    def clients(self) -> Sequence[Certificate]:
        """Read the folder again if it changed, and return all clients without a revoked key."""
        self._refresh()
        return super().clients

    @property
    def revoked(self) -> Sequence[Certificate]:
        """Read the folder again if it changed, and return the revoked certificates."""
        self._refresh()
        return super().revoked

    def current(self) -> Roster:
        """Return a copy of the present roster that later changes of the folder do not affect."""
        self._refresh()
        return Roster(self._clients, self._revoked, self._now)

    def _look_up(self, has_key: Callable[[Certificate], bool]) -> Certificate | NotAdmitted:
        """Return the client for which `has_key` is True, or the reason for a refusal.

        The folder is checked once.
        """
        return self.current()._look_up(has_key)

    def _refresh(self) -> None:
        seen = _folder_content(self._folder)
        if seen == self._last_content:
            return
        self._last_content = seen
        wrong: list[RosterError] = []
        unread: list[Path] = []
        gone = _read_certificates(self._folder / REVOKED_FOLDER, read_certificate, wrong, unread)
        # A revoked key stays revoked in this process, even if its file is removed.
        self._revoked = tuple(dict.fromkeys((*self._revoked, *gone)))
        now = list(_read_certificates(self._folder / ADMITTED_FOLDER, read_admitted, wrong, []))
        self._without_clashes = tuple(_drop_clashing_newcomers(self._without_clashes, now, wrong))
        self._clients = tuple(_drop_unreadably_revoked(self._without_clashes, unread, wrong))
        self._on_read(self, wrong)


def _read_certificates(
    folder: Path, read: Callable[[Path], Certificate], wrong: list[RosterError], unread: list[Path]
) -> Iterable[Certificate]:
    """Yield the certificate of each file in `folder` that the function `read` accepts.

    For any other file, or an unreadable folder, `wrong` gets the error and `unread` gets the path.
    """
    try:
        files = key_files(folder)
    except RosterError as error:
        wrong.append(error)
        unread.append(folder)
        return
    for path in files:
        try:
            yield read(path)
        except RosterError as error:
            if os.path.lexists(path):  # Otherwise the file has been removed in the meantime.
                wrong.append(error)
                unread.append(path)


def _drop_clashing_newcomers(
    before: Sequence[Certificate], now: Sequence[Certificate], wrong: list[RosterError]
) -> Iterable[Certificate]:
    """Yield the clients of `now` without the new clients that conflict with another (`find_clash`).

    New clients are those not in `before`. An error for each client left out is added to `wrong`.
    """
    for each in now:
        clash = None if each in before else find_clash(each, now)
        if clash is None:
            yield each
        else:
            what = f"{each.name} has the {clash[1]} of {clash[0].name}: not admitted"
            wrong.append(RosterError(what))


def _drop_unreadably_revoked(
    clients: Sequence[Certificate], unread: Sequence[Path], wrong: list[RosterError]
) -> Sequence[Certificate]:
    """Return those `clients` that no unreadable file in revoked/ could revoke.

    `unread` lists these files. If one of them matches no client, the result is empty,
    and an error is added to `wrong`.
    """
    for path in unread:
        meant = [each for each in clients if _may_be_revoked_by(each, path)]
        if not meant:
            what = f"{path}: this revocation cannot be read: no client is admitted"
            wrong.append(RosterError(what))
            return ()
        clients = [each for each in clients if each not in meant]
    return clients


def _may_be_revoked_by(client: Certificate, path: Path) -> bool:
    """Return True if the file at `path` has the name of `client`, or contains a key of `client`."""
    if path.name in (f"{client.name}.key", f"{client.name}-{fingerprint(client)}.key"):
        return True
    with suppress(OSError):
        text = path.read_text(encoding="utf-8", errors="replace")
        return client.curve in text or client.verify.hex() in text
    return False


def _folder_content(folder: Path) -> frozenset[tuple[str, str, tuple[int, ...]]]:
    """Return a value that changes if a certificate file in admitted/ or revoked/ changes.

    No file is opened. The value includes the time of the last change to the inode (ctime), which
    programs cannot set back.
    """
    found = set()
    for name in (ADMITTED_FOLDER, REVOKED_FOLDER):
        try:
            with os.scandir(folder / name) as files:
                for file in files:
                    if file.name.endswith(".key"):
                        found.add((name, file.name, _file_stamp(file)))
        except OSError as error:
            found.add((name, "", (error.errno or 0,)))
    return frozenset(found)


def _file_stamp(file: "os.DirEntry[str]") -> tuple[int, ...]:
    try:
        stat = file.stat()
    except OSError:  # The file has been removed, or is a link without a target.
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns

"""The roster as its folder is now: read again whenever a file there changes."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from controller.roster.certificate import (
    Certificate,
    RosterError,
    fingerprint,
    parse_moment,
    read_certificate,
)
from controller.roster.members import (
    ADMITTED_FOLDER,
    REVOKED_FOLDER,
    NotAdmitted,
    Roster,
    find_clash,
    key_files,
    read_admitted,
)

_FolderContent = frozenset[tuple[str, str, tuple[int, ...]]]


class FolderRoster(Roster):
    """A roster that follows its folder; each question looks whether a file has changed.

    `wall` gives the wall's stamp. `on_read` is told of each reading after the first, with what
    is wrong in the folder. A file in admitted/ that says nothing useful admits nobody, and
    nobody else loses his place by it. One in revoked/ takes away whom it names by its name or by
    a key in it; where it names nobody, nobody is admitted until it is mended, for it was put
    there to keep somebody out. Raises RosterError where the folder is wrong from the beginning.
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
        """See Roster."""
        self._refresh()
        return super().clients

    @property
    def revoked(self) -> Sequence[Certificate]:
        """See Roster."""
        self._refresh()
        return super().revoked

    def current(self) -> Roster:
        """Return the roster of this moment, for several questions at once."""
        self._refresh()
        return Roster(self._clients, self._revoked, self._now)

    def _look_up(self, is_it: Callable[[Certificate], bool]) -> Certificate | NotAdmitted:
        """See Roster; with one look at the folder."""
        return self.current()._look_up(is_it)

    def _refresh(self) -> None:
        seen = _folder_content(self._folder)
        if seen == self._last_content:
            return
        self._last_content = seen
        wrong: list[RosterError] = []
        unread: list[Path] = []
        gone = _read_certificates(self._folder / REVOKED_FOLDER, read_certificate, wrong, unread)
        # Once taken away, a key stays so for this process, whatever becomes of the file.
        self._revoked = tuple(dict.fromkeys((*self._revoked, *gone)))
        now = list(_read_certificates(self._folder / ADMITTED_FOLDER, read_admitted, wrong, []))
        self._without_clashes = tuple(_drop_clashing_newcomers(self._without_clashes, now, wrong))
        self._clients = tuple(_drop_unreadably_revoked(self._without_clashes, unread, wrong))
        self._on_read(self, wrong)


def _read_certificates(
    folder: Path,
    reading: Callable[[Path], Certificate],
    wrong: list[RosterError],
    unread: list[Path],
) -> Iterable[Certificate]:
    """Yield the certificates of a folder; `unread` takes what is none, the folder itself too."""
    try:
        files = key_files(folder)
    except RosterError as error:
        wrong.append(error)
        unread.append(folder)
        return
    for path in files:
        try:
            yield reading(path)
        except RosterError as error:
            if os.path.lexists(path):  # else it was taken away meanwhile
                wrong.append(error)
                unread.append(path)


def _drop_clashing_newcomers(
    before: Sequence[Certificate], now: Sequence[Certificate], wrong: list[RosterError]
) -> Iterable[Certificate]:
    """Leave out those who came with the key or the name of somebody else."""
    for each in now:
        clash = None if each in before else find_clash(each, now)
        if clash is None:
            yield each
        else:
            wrong.append(
                RosterError(f"{each.name} has the {clash[1]} of {clash[0].name}: not admitted")
            )


def _drop_unreadably_revoked(
    clients: Sequence[Certificate], unread: Sequence[Path], wrong: list[RosterError]
) -> Sequence[Certificate]:
    """Leave out whom the files that cannot be read take away."""
    for path in unread:
        meant = [each for each in clients if _is_named_by_file(each, path)]
        if not meant:
            wrong.append(
                RosterError(f"{path}: whom it takes away cannot be read: nobody is admitted")
            )
            return ()
        clients = [each for each in clients if each not in meant]
    return clients


def _is_named_by_file(client: Certificate, path: Path) -> bool:
    """Tell whether a file that is no certificate names a client, or has a key of its."""
    if path.name in (f"{client.name}.key", f"{client.name}-{fingerprint(client)}.key"):
        return True
    with suppress(OSError):
        text = path.read_text(encoding="utf-8", errors="replace")
        return client.curve in text or client.verify.hex() in text
    return False


def _folder_content(folder: Path) -> _FolderContent:
    """What tells one content of the folders from another, without opening a file.

    The time of the last change to the inode (ctime) is one that nobody sets back.
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
    except OSError:  # it went meanwhile, or leads nowhere
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns

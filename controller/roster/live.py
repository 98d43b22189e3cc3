"""The roster as its folder is now: read again whenever a file there changes."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from controller.roster.certificate import Certificate, RosterError, moment, read_certificate
from controller.roster.members import ADMITTED, REVOKED, NotAdmitted, Roster, admitted, clashing

_Seen = frozenset[tuple[str, str, int, int]]


class LiveRoster(Roster):
    """A roster that follows its folder; each question looks whether a file has changed.

    `wall` gives the wall's stamp. `on_read` is told of each reading after the first, with what
    is wrong in the folder: a file that says nothing useful admits nobody, and nobody else
    loses his place by it. Raises RosterError where the folder is wrong from the beginning.
    """

    def __init__(
        self,
        folder: Path,
        wall: Callable[[], str],
        on_read: Callable[["LiveRoster", Sequence[RosterError]], None] = lambda roster, wrong: None,
    ) -> None:
        self._folder, self._on_read = folder, on_read
        self._seen = _look(folder)
        first = Roster.load(folder)
        super().__init__(first.clients, first.revoked, lambda: moment(wall()))

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

    def now(self) -> Roster:
        """Return the roster of this moment, for several questions at once."""
        self._refresh()
        return Roster(self._clients, self._revoked, self._now)

    def _standing(self, is_it: Callable[[Certificate], bool]) -> Certificate | NotAdmitted:
        """See Roster; with one look at the folder."""
        return self.now()._standing(is_it)

    def _refresh(self) -> None:
        seen = _look(self._folder)
        if seen == self._seen:
            return
        self._seen = seen
        wrong: list[RosterError] = []
        gone = _read(self._folder / REVOKED, read_certificate, wrong)
        # Once taken away, a key stays so for this process, whatever becomes of the file.
        self._revoked = tuple(dict.fromkeys((*self._revoked, *gone)))
        before, now = self._clients, list(_read(self._folder / ADMITTED, admitted, wrong))
        self._clients = tuple(_in_their_places(before, now, wrong))
        self._on_read(self, wrong)


def _read(
    folder: Path, reading: Callable[[Path], Certificate], wrong: list[RosterError]
) -> Iterable[Certificate]:
    for path in sorted(folder.glob("*.key")):
        try:
            yield reading(path)
        except RosterError as error:
            if path.exists():  # else it was taken away meanwhile
                wrong.append(error)


def _in_their_places(
    before: Sequence[Certificate], now: Sequence[Certificate], wrong: list[RosterError]
) -> Iterable[Certificate]:
    """Leave out those who came with the key or the name of somebody else."""
    for each in now:
        clash = None if each in before else clashing(each, now)
        if clash is None:
            yield each
        else:
            wrong.append(
                RosterError(f"{each.name} has the {clash[1]} of {clash[0].name}: not admitted")
            )


def _look(folder: Path) -> _Seen:
    """What tells one content of the folders from another, without opening a file."""
    found = set()
    for name in (ADMITTED, REVOKED):
        with suppress(OSError), os.scandir(folder / name) as files:
            for file in files:
                if file.name.endswith(".key"):
                    with suppress(OSError):  # it went meanwhile
                        stat = file.stat()
                        found.add((name, file.name, stat.st_ino, stat.st_mtime_ns))
    return frozenset(found)

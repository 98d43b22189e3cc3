"""The allow-list: the admitted certificates, read again whenever the folder changes."""

from pathlib import Path

import structlog

from controller.roster import ADMITTED, Roster, RosterError

_log = structlog.get_logger("gateway")

_Seen = frozenset[tuple[str, int, int]]


class AllowList:
    """Tells which public CURVE keys (Z85) are admitted now. Raises RosterError if made of wrong
    files; should they become wrong later, the list stays as it was and the log says so."""

    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self._seen = _look(state_dir / ADMITTED)
        self._keys = _keys(state_dir)

    def admits(self, key: str) -> bool:
        """Tell whether `key` is on the list."""
        self._refresh()
        return key in self._keys

    def _refresh(self) -> None:
        seen = _look(self._state_dir / ADMITTED)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._keys = _keys(self._state_dir)
        except RosterError as error:
            _log.error("allow-list not changed", why=str(error))
        else:
            _log.info("allow-list changed", admitted=len(self._keys))


def _keys(state_dir: Path) -> frozenset[str]:
    return frozenset(client.curve for client in Roster.load(state_dir).clients)


def _look(folder: Path) -> _Seen:
    """What tells one content of the folder from another, without opening a file."""
    files = ((file.name, file.stat()) for file in folder.glob("*.key"))
    return frozenset((name, stat.st_ino, stat.st_mtime_ns) for name, stat in files)

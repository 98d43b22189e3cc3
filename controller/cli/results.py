"""Files for what takes long: whether they can be written is asked before the work begins."""

import os
from pathlib import Path

from controller.cli import LineError


def require_writable(path: Path) -> None:
    """Return if a file can be written in the end. Raises LineError."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise LineError(f"{path}: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise LineError(f"{path}: cannot be written by this user")

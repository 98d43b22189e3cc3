"""Files for what takes long: whether they can be written is asked before the work begins."""

import os
from pathlib import Path

from controller.cli import CliError


def require_writable(path: Path) -> None:
    """Return if a file can be written in the end, where a symbolic link leads. Raises LineError."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        raise CliError(f"{path}: there is no folder {folder}")
    is_loop = target.is_symlink()  # of links that lead to each other
    if is_loop or not os.access(target if target.exists() else folder, os.W_OK):
        raise CliError(f"{path}: cannot be written by this user")

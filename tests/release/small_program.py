"""A small program to release: a folder with its two packages."""

from pathlib import Path

import pytest

FILES = {
    "controller/__init__.py": b"",
    "controller/cards.py": b"CARDS = 108\n",
    "controller/rules/profiles/one.toml": b"a = 1\n",
    "drivers/__init__.py": b"",
    "drivers/firmware/__init__.py": b"",
    "drivers/firmware/main.py": b"print(1)\n",
    "drivers/firmware/version.py": b"FIRMWARE_VERSION = (1, 2, 3)\n",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The folder that the program lies in."""
    folder = tmp_path / "program"
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder

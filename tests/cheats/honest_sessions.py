"""Sessions of an honest machine, whose journals tests change afterwards."""

import shutil
from pathlib import Path

import msgspec
import pytest

from tests.cheats.changed import Evening, Traces, spend


class HonestSessions:
    """Deals each session once, and copies what is left of it into the folder of a test."""

    def __init__(
        self,
        spent: dict[str, Traces],
        folder: Path,
        folders: pytest.TempPathFactory,
        runtime_dir: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self._spent, self._folder, self._folders = spent, folder, folders
        self._runtime_dir, self._monkeypatch = runtime_dir, monkeypatch

    async def spend(self, evening: Evening) -> Traces:
        """Return what is left of a session. A name stands for one session."""
        if evening.name not in self._spent:
            folder = self._folders.mktemp("session")
            self._spent[evening.name] = await spend(
                evening, {}, folder, self._runtime_dir, self._monkeypatch
            )
        left = self._spent[evening.name]
        shutil.copytree(left.state_dir, self._folder, dirs_exist_ok=True)
        return msgspec.structs.replace(left, state_dir=self._folder)

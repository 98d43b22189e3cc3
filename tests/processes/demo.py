"""A demo that has ended, and what each of its deals shows."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes.program import Done

HANDS = {"N": 27, "W": 27, "S": 27, "E": 27, "tray": 0}


@dataclass(frozen=True)
class Demo:
    """A demo that has ended: its output, and the journal that it left."""

    done: Done
    state_dir: Path

    @property
    def summary(self) -> Any:
        """The JSON object that it printed."""
        return json.loads(self.done.out)

"""What a whole deal leaves in the logs of its processes: who, when, what, and no secret."""

import base64
import json
from pathlib import Path

import pytest

from controller.cards import FACE_COUNT, face_text
from controller.config import load_table
from controller.journal.verify.sources import read_source
from controller.service.logging_setup import LOG_LEVEL_VARIABLE, LOG_LEVELS
from sim.tables.table_processes import TableProcess
from tests.processes.people import People

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("level", LOG_LEVELS)
async def test_no_log_level_tells_a_face_a_seed_or_a_key(
    boards: TableProcess, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.setenv(LOG_LEVEL_VARIABLE, level)
    await boards.start_daemon()
    runtime_dir = load_table(boards.config).table.runtime_dir
    async with People(boards) as people:
        await people.held()
        keys = [path.read_bytes() for path in runtime_dir.glob("attempt-*.key")]
    await boards.stop_daemon()  # hands that nobody took: the attempt's record is opened or stays
    assert keys

    log = (boards.state_dir / "daemon.log").read_text()
    lines = [json.loads(line) for line in log.splitlines()]
    assert all(
        {"timestamp", "level", "table", "boot", "part", "event"} <= set(each) for each in lines
    )
    assert any(each["event"] == "command answered" for each in lines) == (level == "debug")
    for secret in (*keys, *seeds(boards.state_dir)):
        for spelling in (secret.hex(), base64.b64encode(secret).decode()):
            assert spelling not in log
    for text in (*boxes(boards.state_dir), *map(face_text, range(FACE_COUNT))):
        assert text not in log.split()
        assert f'"{text}"' not in log


def seeds(state_dir: Path) -> list[bytes]:
    """Every seed that the journal has opened so far."""
    entries = [chained.entry for chained in read_source(state_dir).entries]
    return [bytes.fromhex(entry.data["seed"]) for entry in entries if entry.kind == "revealed"]


def boxes(state_dir: Path) -> list[str]:
    """Everything closed in the journal, as its text stands there."""
    private = [
        chained.entry.data for chained in read_source(state_dir).entries if not chained.entry.public
    ]
    texts = [text for data in private for text in data.values() if isinstance(text, str)]
    assert len(texts) > 10
    return texts

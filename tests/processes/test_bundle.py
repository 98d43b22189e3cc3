"""The diagnostics archive of a real table in mid-match: all that helps, nothing that is secret."""

import base64
import json
import tarfile
from pathlib import Path

import pytest

from controller.cards import FACE_COUNT, face_text
from controller.config import load_table
from controller.journal.verify.sources import read_source
from controller.roster import CLIENTS_FOLDER, KEYS_FOLDER
from sim.tables.table_processes import TableProcess
from tests.processes.people import People
from tests.processes.program import Dealtable

pytestmark = pytest.mark.slow

PARTS = {
    "configuration.json",
    "endpoints.json",
    "events.jsonl",
    "keys.json",
    "logs/daemon.log",
    "metrics.txt",
    "private.json",
    "system.json",
    "verify.json",
}
PLANTED = "correct horse battery staple"


def unpacked(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as opened:
        return {
            entry.name.partition("/")[2]: body.read()
            for entry in opened
            if (body := opened.extractfile(entry)) is not None
        }


def secrets_of(table: TableProcess) -> list[bytes]:
    """All that must never leave: keys of people and table, the attempt's key, what is sealed."""
    found: list[bytes] = []
    for folder in (KEYS_FOLDER, CLIENTS_FOLDER):
        for file in (table.state_dir / folder).glob("*.key_secret"):
            values = [line.partition("=")[2].strip() for line in file.read_text().splitlines()]
            names = [line.partition("=")[0].strip() for line in file.read_text().splitlines()]
            rows = zip(names, values, strict=True)
            found += [
                v.strip('"').encode() for n, v in rows if n in ("secret-key", "sign", "unseal")
            ]
    runtime_dir = load_table(table.config).table.runtime_dir
    found += [file.read_bytes() for file in runtime_dir.glob("attempt-*.key")]
    for chained in read_source(table.state_dir).entries:
        if not chained.entry.public:
            found += [v.encode() for v in chained.entry.data.values() if isinstance(v, str)]
    return found


async def test_an_archive_made_between_deal_and_release_helps_and_tells_no_secret(
    table: TableProcess, people: People, dealtable: Dealtable, tmp_path: Path
) -> None:
    await people.held()
    secrets = secrets_of(table)
    assert len(secrets) > 20
    with (table.state_dir / "daemon.log").open("ab") as log:  # as a careless line would
        for secret in secrets[:5]:
            log.write(b"\n" + secret + b" " + secret.hex().encode() + b"\n")
    with table.config.open("a") as config:
        config.write(f'\n# the password is "{PLANTED}"\n')
    out = tmp_path / "t.tar.gz"

    done = await dealtable("bundle", "--state-dir", table.state_dir, "--out", out)

    assert done.code == 0, done.err
    parts = unpacked(out)
    assert set(parts) == PARTS
    assert all(name in done.out for name in PARTS)
    everything = b"\n".join(parts.values())
    for secret in [*secrets, PLANTED.encode()]:
        for spelling in (secret, secret.hex().encode(), base64.b64encode(secret)):
            assert spelling not in everything
    words = set(everything.decode().replace('"', " ").split())
    assert not words & {face_text(face) for face in range(FACE_COUNT)}
    assert b"key_secret" not in everything
    assert out.stat().st_mode & 0o077 == 0


async def test_its_events_can_be_verified_and_its_report_is_clean(
    table: TableProcess, people: People, dealtable: Dealtable, tmp_path: Path
) -> None:
    await people.held()
    out = tmp_path / "t.tar.gz"
    await dealtable("bundle", "--state-dir", table.state_dir, "--out", out)
    parts = unpacked(out)

    events = tmp_path / "events.jsonl"
    events.write_bytes(parts["events.jsonl"])

    assert (await dealtable("verify", events)).code == 0
    assert json.loads(parts["verify.json"])["findings"] == []
    assert json.loads(parts["endpoints.json"])["table"] == "T01"
    assert "dealtable_machine_up" in parts["metrics.txt"].decode()
    private = json.loads(parts["private.json"])
    assert private["entries"]["seed"] == 1
    assert private["wire"]
    assert {row["name"] for row in json.loads(parts["keys.json"])} >= {"table", "referee", "chief"}


async def test_an_archive_that_is_there_is_not_replaced_unasked(
    table: TableProcess, dealtable: Dealtable, tmp_path: Path
) -> None:
    out = tmp_path / "t.tar.gz"
    out.write_text("mine")

    refused = await dealtable("bundle", "--state-dir", table.state_dir, "--out", out)
    assert (refused.code, out.read_text()) == (2, "mine")
    assert "--replace" in refused.err

    done = await dealtable("bundle", "--state-dir", table.state_dir, "--out", out, "--replace")
    assert (done.code, out.read_bytes()[:2]) == (0, b"\x1f\x8b")


@pytest.mark.parametrize("last", [0, 3])
async def test_of_a_long_journal_the_newest_entries_are_enough(
    table: TableProcess, dealtable: Dealtable, tmp_path: Path, last: int
) -> None:
    async with People(table) as people:
        await people.held()
    out = tmp_path / "t.tar.gz"
    done = await dealtable("bundle", "--state-dir", table.state_dir, "--out", out, "--last", last)
    assert done.code == 0
    assert unpacked(out)["events.jsonl"].count(b"\n") == last


async def test_a_folder_without_a_table_says_what_could_not_be_had(
    dealtable: Dealtable, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    out = tmp_path / "t.tar.gz"
    done = await dealtable("bundle", "--state-dir", tmp_path / "empty", "--out", out)
    assert done.code == 0
    assert "not available" in done.out
    assert "system.json" in unpacked(out)

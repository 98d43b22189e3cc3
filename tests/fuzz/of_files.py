"""Files that people write or carry: each is taken, or refused in one printable line."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from controller.cli import CliError
from controller.cli import transfer as cli_transfer
from controller.cli.watch import KeptHeadsFile
from controller.client.discovery import ENDPOINTS_FILE, Endpoints, NoEndpoints, read_endpoints
from controller.config import ConfigError, SimConfig, TableConfig, load_sim, load_table
from controller.host.toml_files import FileError
from controller.journal.entries import JournalError
from controller.journal.verify.head_checks import read_kept_heads
from controller.release.installed_program import read_remembered_release
from controller.release.release_files import read_manifest
from controller.roster import Roster, RosterError, read_certificate
from controller.rules.profile import Profile
from controller.rules.profile_files import ProfileError, apply_event_file, load_profile
from controller.rules.regulations_page import profile_hash
from controller.signing.releases import Manifest, decode_manifest, encode_manifest
from hil_tests.harness.bench_file import BenchError, BenchFile, load_bench
from sim.cli import sim as cli_sim
from tests.fuzz.folders import file
from tests.fuzz.refusals import one_line


def told(read: Callable[[Path], object], path: Path, *refusals: type[Exception]) -> object:
    """What a file gives, None where it is refused as it should be."""
    try:
        return read(path)
    except refusals as error:
        one_line(error)
        return None


def table_toml(data: bytes) -> None:
    """A table's configuration."""
    with file("table.toml", data) as path:
        found = told(load_table, path, ConfigError)
        assert found is None or isinstance(found, TableConfig)


def sim_toml(data: bytes) -> None:
    """A simulated table's configuration, with the faults in it."""
    with file("sim.toml", data) as path:
        found = told(load_sim, path, ConfigError)
        if isinstance(found, SimConfig):
            told(lambda _: cli_sim._make_settings(found, None, (), None), path, CliError)


def bench_toml(data: bytes) -> None:
    """A bench file of hil_tests."""
    with file("bench.toml", data) as path:
        found = told(load_bench, path, BenchError)
        assert found is None or isinstance(found, BenchFile)


def event_toml(data: bytes) -> None:
    """An event's regulations, over any rulebook."""
    with file("event.toml", data) as path:
        for profile in _profiles():
            found = told(lambda path, of=profile: apply_event_file(of, path), path, ProfileError)  # type: ignore[misc]  # mypy sees no type in a default
            if isinstance(found, Profile):
                assert len(profile_hash(found)) == 32


@cache
def _profiles() -> tuple[Profile, ...]:
    return tuple(
        load_profile(name) for name in ("international-000", "bcta-004", "bigtwo-2017-002")
    )


def certificate(data: bytes) -> None:
    """A key file, in somebody's hands and among the admitted."""
    with file("somebody.key", data) as path:
        told(read_certificate, path, RosterError)
        admitted = path.parent / "admitted"
        admitted.mkdir()
        path.rename(admitted / path.name)
        told(Roster.load, path.parent, RosterError)


def kept_heads(data: bytes) -> None:
    """Heads that somebody kept of a journal."""
    with file("heads", data) as path:
        told(read_kept_heads, path, JournalError)


def heads_file(data: bytes) -> None:
    """The file of `watch --heads`: taken as it is but for a half line, or left alone."""
    with file("heads.jsonl", data) as path:
        kept = told(KeptHeadsFile, path, FileError)
        if isinstance(kept, KeptHeadsFile):
            with kept:
                assert data.startswith(path.read_bytes().removesuffix(b"\n"))
        else:
            assert path.read_bytes() == data


def manifest(data: bytes) -> None:
    """A release's manifest, and what a table remembers of the last one."""
    with file("release.json", data) as path:
        found = told(read_manifest, path, FileError)
        if isinstance(found, Manifest):
            assert decode_manifest(encode_manifest(found)) == found
            assert len(found.release.hash) == 64
        told(read_remembered_release, path.parent, FileError)


def endpoints(data: bytes) -> None:
    """What a state directory says of its running gateway."""
    with file(ENDPOINTS_FILE, data) as path:
        found = told(read_endpoints, path.parent, NoEndpoints)
        assert found is None or isinstance(found, Endpoints)


def carried(data: bytes) -> None:
    """A match on its way in a file (`dealtable transfer --file`)."""
    with file("match.json", data) as path:
        told(cli_transfer._read_parts, path, CliError)

"""The lock of a bench: one run at a time, and nobody is locked out by one that died."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hil_tests.harness.bench_file import BenchInUse, BenchLock

HOLDER = """
import os, sys
from pathlib import Path
from hil_tests.harness.bench_file import BenchLock
BenchLock(Path(sys.argv[1])).acquire("Wu")
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    return tmp_path / "bench.toml"


def test_a_second_run_is_refused_and_told_who_is_there(bench: Path) -> None:
    first, second = BenchLock(bench), BenchLock(bench)
    first.acquire("Chen")
    with pytest.raises(BenchInUse, match=f"taken by Chen .process {os.getpid()}.; wait"):
        second.acquire("Wu")
    assert first.path.read_text().startswith("Chen (process")
    first.release()
    assert not first.path.exists()
    second.acquire("Wu")
    second.release()


def test_a_lock_that_was_removed_meanwhile_is_taken_anew(
    bench: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one lets go between the second one's opening of the file and its lock."""
    first, second, third = BenchLock(bench), BenchLock(bench), BenchLock(bench)
    first.acquire("Chen")
    real = fcntl.flock

    def flock(fd: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", real)
        first.release()
        real(fd, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    second.acquire("Wu")
    with pytest.raises(BenchInUse, match="taken by Wu"):
        third.acquire("Li")
    second.release()


def test_a_run_that_died_leaves_the_bench_free(bench: Path, request: pytest.FixtureRequest) -> None:
    with subprocess.Popen(
        (sys.executable, "-c", HOLDER, str(bench)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=request.config.rootpath,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"taken\n"
        with pytest.raises(BenchInUse, match="taken by Wu"):
            BenchLock(bench).acquire("Chen")
        holder.kill()
        holder.wait()
    lock = BenchLock(bench)
    lock.acquire("Chen")
    lock.release()

"""What went dark with the power: the chief, and nobody else, can open it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from nacl.public import PrivateKey

from controller.cli.open import command
from controller.journal.attempt_history import attempt_histories
from controller.keys.table_keys import create_client_keys
from controller.messages import Role
from controller.roster import read_certificate
from sim.tables.daemon_death import DaemonDeath
from tests.crash.deaths import FAULTS
from tests.crash.lives import Scene
from tests.crash.people import practice

pytestmark = pytest.mark.virtual


@pytest.fixture
def chief(tmp_path: Path) -> Path:
    """A chief's secret file."""
    return create_client_keys(tmp_path / "hall", "chief", Role.CHIEF).with_suffix(".key_secret")


@pytest.fixture
async def dark(tmp_path: Path, runtime_dir: Path, chief: Path) -> Path:
    """The journal of a table whose power went when its last card had landed."""
    unseal = read_certificate(chief).unseal
    assert unseal is not None
    seal = bytes(PrivateKey(unseal).public_key)
    whole = Scene.new(FAULTS, tmp_path / "whole", runtime_dir)
    await whole.live(practice(1))
    whole.sim.close()
    (dealt,) = (each.entry.n for each in whole.entries() if each.entry.kind == "dealt")
    scene = Scene.new(FAULTS, tmp_path / "scene", runtime_dir)
    try:
        await scene.live(
            practice(1), DaemonDeath(dealt, power_lost=True, boards_reset=True), chief=seal
        )
        assert await scene.live(practice(1), chief=seal)
    finally:
        scene.sim.close()
    return scene.state_dir


def opening(state_dir: Path, number: int, key: Path, *options: str) -> Result:
    words = [str(state_dir), "--attempt", str(number), "--key", str(key), *options]
    return CliRunner().invoke(command, words)


def sealed(state_dir: Path) -> int:
    from controller.journal.verify.sources import read_source

    found = attempt_histories(chained.entry for chained in read_source(state_dir).entries)
    return next(n for n, progress in found.items() if "sealed_to_chief" in progress.steps)


async def test_the_chief_opens_what_the_power_took_and_it_holds(dark: Path, chief: Path) -> None:
    number = sealed(dark)
    said = opening(dark, number, chief, "--json")
    assert said.exit_code == 0, said.output
    told = json.loads(said.stdout)
    assert len(bytes.fromhex(told["revealed"]["seed"])) == 32
    assert told["record"]["events"]
    assert "sequence" in opening(dark, number, chief).stdout


async def test_nobody_else_opens_it_and_nothing_else_is_opened(
    dark: Path, chief: Path, tmp_path: Path
) -> None:
    other = create_client_keys(tmp_path / "other", "chief", Role.CHIEF).with_suffix(".key_secret")
    said = opening(dark, sealed(dark), other)
    assert said.exit_code == 2
    assert "another chief's key" in said.output
    referee = create_client_keys(tmp_path / "other", "referee", Role.REFEREE)
    said = opening(dark, sealed(dark), referee.with_suffix(".key_secret"))
    assert said.exit_code == 2
    assert "unsealing key" in said.output
    said = opening(dark, sealed(dark) + 1, chief)
    assert said.exit_code == 2
    assert "not left to the chief" in said.output
    assert "no attempt 99" in opening(dark, 99, chief).output

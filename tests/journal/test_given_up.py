"""Attempts that were taken back, or that their machine cannot open: what must be told of them."""

from pathlib import Path

from controller.journal.verify import verify
from tests.journal.scripted import FOR_CHIEF, ScriptedTable, write_journal

NEXT_BOOT = "b008"


def another_run(table: ScriptedTable) -> None:
    """Let another run of the daemon go on with the journal."""
    table.journal._boot = NEXT_BOOT
    table.open()


async def findings(state_dir: Path, script: object) -> list[str]:
    await write_journal(state_dir, script)  # type: ignore[arg-type]
    return [finding.what for finding in verify(state_dir).findings]


def recalled(table: ScriptedTable, *, opened: bool = True) -> None:
    """A right deal whose hands were out and are dealt again, and the next one."""
    table.play(open_hands=opened, recalled="COUNT_WRONG")
    table.redeal()
    table.play()


async def test_hands_that_were_recalled_are_told_with_their_reason(state_dir: Path) -> None:
    assert await findings(state_dir, recalled) == []
    standing = verify(state_dir).attempts[0]
    assert standing.recalled
    assert standing.reasons == standing.unprovable_reasons == ["COUNT_WRONG"]
    assert "recalled" in str(standing)


async def test_recalled_hands_whose_record_stays_shut_are_a_finding(state_dir: Path) -> None:
    found = await findings(state_dir, lambda table: recalled(table, opened=False))
    assert found
    assert "its record is not open" in " | ".join(found)


async def test_an_attempt_whose_key_went_with_the_power_is_explained(state_dir: Path) -> None:
    def power_cut(table: ScriptedTable) -> None:
        table.commit()
        another_run(table)
        table.verdict("void", "POWER", N=0, W=0, S=0, E=0)
        table.step("sealed_to_chief", reason="POWER")
        table.redeal()
        table.play()

    assert await findings(state_dir, power_cut) == []
    standing = verify(state_dir).attempts[0]
    assert standing.sealed
    assert standing.unprovable_reasons == ["POWER"]
    assert "sealed to the chief" in str(standing)


async def test_hands_that_were_played_after_a_power_cut_are_explained(state_dir: Path) -> None:
    def played(table: ScriptedTable) -> None:
        table.play(sealed=lambda: another_run(table))
        table.play()

    assert await findings(state_dir, played) == []


async def test_a_key_that_is_said_to_be_gone_while_its_daemon_lives_is_a_finding(
    state_dir: Path,
) -> None:
    def hidden(table: ScriptedTable) -> None:
        table.commit()
        table.verdict("void", "POWER", N=0, W=0, S=0, E=0)
        table.step("sealed_to_chief", reason="POWER")

    (what,) = await findings(state_dir, hidden)
    assert "its daemon continued" in what


async def test_a_seed_that_was_never_committed_to_owes_nothing(state_dir: Path) -> None:
    def torn(table: ScriptedTable) -> None:
        table.attempt += 1
        table.step("seed", public=False, box="c2VhbGVk", for_chief=FOR_CHIEF)
        another_run(table)
        table.play()

    assert await findings(state_dir, torn) == []

"""Deals under an event's own regulations: `verify` looks their rules up in the event's file."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.rules.profile_files import ProfileError, load_profile
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from tests.journal.findings import what

PROFILE = "international-000"
EVENT = """\
profile = "{profile}"
title_en = "{title}"
title_zh = "杯赛"
organizer = "协会"
cut_margin = {margin}
"""


def event_file(folder: Path, *, margin: int, title: str = "Cup", profile: str = PROFILE) -> Path:
    file = folder / f"{title}-{margin}.toml"
    text = EVENT.format(title=title, margin=margin, profile=profile)
    file.write_text(text, encoding="utf-8")
    return file


async def dealt_under(event: Path, state_dir: Path, runtime_dir: Path, name: str = PROFILE) -> None:
    store = JournalStore.open(state_dir)
    profile = load_profile(name, event)
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, store=store, state_dir=state_dir, profile=profile
    ) as table:
        await table.play_attempt()
        await table.return_hands()


@pytest.mark.virtual
async def test_a_journal_dealt_under_an_event_is_compared_with_its_file(
    tmp_path: Path, state_dir: Path, runtime_dir: Path
) -> None:
    event = event_file(tmp_path, margin=7)
    await dealt_under(event, state_dir, runtime_dir)

    report = verify(state_dir, events=[event_file(tmp_path, margin=9, title="Other"), event])

    assert what(report) == ""
    assert [(each.grade, each.unknown_rules) for each in report.attempts] == [("hands", None)]


@pytest.mark.virtual
@pytest.mark.parametrize("name", [PROFILE, "bigtwo-2017-002"])
async def test_without_the_file_one_line_says_what_was_not_compared(
    tmp_path: Path, state_dir: Path, runtime_dir: Path, name: str
) -> None:
    event = event_file(tmp_path, margin=7, profile=name)
    await dealt_under(event, state_dir, runtime_dir, name)

    told = CliRunner().invoke(main, ["verify", str(state_dir)])

    lines = [line for line in told.output.splitlines() if "--event" in line]
    assert told.exit_code == 0
    assert len(lines) == 1
    assert lines[0].startswith(f"attempt 1: rules not at hand ({name} ")
    assert "all holds" in told.output


@pytest.mark.virtual
async def test_with_the_file_the_line_is_not_there(
    tmp_path: Path, state_dir: Path, runtime_dir: Path
) -> None:
    event = event_file(tmp_path, margin=7)
    await dealt_under(event, state_dir, runtime_dir)

    told = CliRunner().invoke(main, ["verify", str(state_dir), "--event", str(event)])

    assert told.exit_code == 0
    assert "rules not at hand" not in told.output


@pytest.mark.virtual
async def test_a_cut_that_the_event_does_not_allow_is_found_with_its_file_alone(
    tmp_path: Path, state_dir: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = event_file(tmp_path, margin=50)
    profile = load_profile(PROFILE, event)
    monkeypatch.setattr(type(profile), "cuts", lambda self: range(1, 108))
    await dealt_under(event, state_dir, runtime_dir)
    monkeypatch.undo()

    assert what(verify(state_dir)) == ""
    assert "the cut 40 is not one that profile" in what(verify(state_dir, events=[event]))


def test_a_file_that_is_no_event_is_refused_in_one_line(tmp_path: Path, state_dir: Path) -> None:
    wrong = tmp_path / "event.toml"
    wrong.write_text('profile = "no-such"\n', encoding="utf-8")

    with pytest.raises(ProfileError):
        verify(state_dir, events=[wrong])
    told = CliRunner().invoke(main, ["verify", str(state_dir), "--event", str(wrong)])
    assert told.exit_code == 2
    assert str(told.output).count("\n") == 1

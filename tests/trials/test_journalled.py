"""What `bench journal` says of a deal's record."""

from pathlib import Path

import click
import pytest
from pytest_mock import MockerFixture

from controller.trials import journalled as module
from controller.trials.bench import journals
from controller.trials.hall import HallPlan, hall
from controller.trials.journalled import Journalled, journalled

pytestmark = pytest.mark.slow

EVENTS_OF_A_CARD = 4
"""At the window, read, at the gate, landed."""


@pytest.mark.timeout(120)
async def test_a_deal_is_told_by_its_rows_its_events_and_its_commits(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    to_disk_kib = mocker.patch.object(module, "to_disk_kib", side_effect=[100.0, 350.0])
    async with hall(HallPlan(tmp_path / "state", speed=20)) as (table,):
        left = await journalled(table, 1)
    assert to_disk_kib.call_count == 2
    assert (left.deals, left.cards, left.disk_kib) == (1, 108, 250.0)
    assert 108 * EVENTS_OF_A_CARD < left.events < 108 * (EVENTS_OF_A_CARD + 1)
    assert 0 < left.commits < 108
    assert left.record_kib > left.bare_kib > left.events * module.BLOB_BYTES / 1024


@pytest.mark.timeout(120)
async def test_a_folder_that_is_on_no_disk_is_an_error_and_no_number(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(module, "to_disk_kib", return_value=0.0)
    async with hall(HallPlan(tmp_path / "state", speed=20)) as (table,):
        with pytest.raises(click.ClickException, match="is not on a disk"):
            await journalled(table, 1)


def test_a_table_of_blobs_is_as_large_as_its_pages() -> None:
    few, many = (module._table_kib("event BLOB", [(bytes(12),)] * n) for n in (1, 10_000))
    assert few == 8.0
    assert many > 10_000 * 12 / 1024


def test_a_journal_is_told_for_one_deal_and_against_a_commit_a_card(mocker: MockerFixture) -> None:
    left = Journalled(
        deals=2, cards=216, events=1_000, commits=54, record_kib=58, bare_kib=20, disk_kib=300
    )
    mocker.patch.object(journals, "_left", mocker.AsyncMock(return_value=left))
    told = {one.what: (one.value, one.floor) for one in journals.journal()}
    assert told == {
        "of a deal": (29.0, 10.0),
        "of an event": (pytest.approx(59.392), pytest.approx(20.48)),
        "written to the disk": (150.0, 29.0),
        "against one a card": (27.0, 108.0),
    }

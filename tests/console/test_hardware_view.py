"""What stands behind a table's boards, as referees and technicians read it."""

import re
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
import pytest

from controller.console.view.hardware import HardwareView, describe_hardware
from controller.messages import ConnectedBoard, ReaderTrigger, ReportedBoards
from tests.console.states import behind, state
from tests.console.web import logged_in, standing

HALS = get_args(get_type_hints(ConnectedBoard)["hal"])


def told(dealer: str | None, reader: str | None, trigger: str | None) -> HardwareView:
    return describe_hardware(msgspec.convert(behind(dealer, reader, trigger), ReportedBoards))


@pytest.mark.parametrize("hal", HALS)
@pytest.mark.parametrize("trigger", get_args(ReaderTrigger))
def test_every_hardware_has_its_words_in_both_languages(hal: str, trigger: str) -> None:
    found = told(hal, hal, trigger)
    for words in (found.dealer, found.reader, found.trigger, *found.cannot):
        assert re.search("[一-鿿]", words.zh)
        assert not re.search("[一-鿿]", words.en)
    assert len({one.en for one in found.cannot}) == len(found.cannot)


def test_hardware_that_is_not_the_same_is_not_called_the_same() -> None:
    names = {told(hal, hal, "wire").dealer for hal in HALS}
    assert len(names) == len(HALS)
    assert told(None, "rp2", "wire").dealer not in names
    assert told("rp2", "rp2", "wire").trigger != told("rp2", "rp2", "asked").trigger


def test_boards_of_its_own_promise_all_and_bought_parts_say_what_they_cannot() -> None:
    assert told("rp2", "rp2", "wire").cannot == ()
    assert told("sim", "sim", "wire").cannot == ()
    drives, engine = told("adapter", "rp2", "wire").cannot, told("rp2", "adapter", "asked").cannot
    assert any("急停" in one.zh for one in drives)
    assert any("无法识别" in one.zh for one in engine)
    assert any("见证" in one.zh for one in engine)
    assert set(told("adapter", "adapter", "asked").cannot) == {*drives, *engine}


async def test_a_tables_page_and_set_up_tell_of_the_same_hardware(tmp_path: Path) -> None:
    bought = state(table="T01", boards=behind("adapter", "rp2", "wire"))
    async with standing(tmp_path) as (console, tables):
        tables.say("T01", bought)
        expected = msgspec.json.decode(msgspec.json.encode(describe_hardware(bought.boards)))
        part = console.table_pages._table_part(console.tables.snapshot("T01"))
        assert msgspec.json.decode(msgspec.json.encode(part.hardware)) == expected
        async with logged_in(console, "chief") as client:
            set_up = (await client.get("/api/setup")).json()
        (mine,) = (one for one in set_up["tables"] if one["id"] == "T01")
        assert mine["hardware"] == expected

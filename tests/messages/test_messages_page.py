"""controller/messages.md shows what is really said."""

import json
import re
from typing import Any, get_args

from controller.journal.kinds import KINDS
from controller.match.events import MatchEvent, event_of
from tests.messages.page import PAGE
from tests.messages.strict import wrong


def test_every_kind_and_every_event_of_a_match_has_its_example() -> None:
    blocks = _examples()
    kinds = {block["kind"] for block in blocks if "kind" in block}
    assert kinds == {kind for kind, row in KINDS.items() if row.public}
    happened = {type(event_of(block)) for block in blocks if "event" in block and "at_ms" in block}
    assert happened == set(get_args(MatchEvent))


def test_every_example_fits_its_schema_but_where_it_was_cut() -> None:
    for block in _examples():
        name = _schema(block)
        if name is not None and "…" not in json.dumps(block, ensure_ascii=False):
            assert wrong(name, block) == []


def _schema(block: dict[str, Any]) -> str | None:
    fields = {"kind": "event", "machine": "state", "cmd": "command", "ok": "reply"}
    return next((name for field, name in fields.items() if field in block), None)


def _examples() -> list[dict[str, Any]]:
    text = PAGE.read_text("utf-8")
    return [json.loads(block) for block in re.findall(r"(?s)```json\n(.*?)\n```", text)]

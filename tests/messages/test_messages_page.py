"""controller/messages.md shows the real messages."""

import json
import re
from typing import Any

from tests.messages.page import PAGE
from tests.messages.strict import wrong


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

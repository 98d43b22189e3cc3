"""States of tables, made from the example that messages.md shows."""

import re
from pathlib import Path
from typing import Any

import msgspec

from controller.console.freshness import ContactTimes, Freshness
from controller.console.table_snapshots import TableSnapshot
from controller.console.view.wait_reasons import WaitReason, list_table_reasons
from controller.messages import PublicState

ROOT = Path(__file__).parents[2]
FIRMWARE = {"version": "1.0.0", "hash": "ab" * 8}
_EXAMPLE = re.compile(r"<!-- example: state -->\n```json\n(.*?)```", re.DOTALL)


def state(machine: dict[str, Any] | None = None, **changes: Any) -> PublicState:
    """Return the example's state without calls and alerts, but for what is said.

    `machine` and `match` change single fields, any other field is put in place whole.
    """
    found = _EXAMPLE.search((ROOT / "controller" / "messages.md").read_text(encoding="utf-8"))
    assert found is not None
    body = msgspec.json.decode(found[1]) | {"calls": [], "alerts": []}
    match = changes.pop("match", {})
    body["machine"] |= machine or {}
    body["match"] |= match
    return msgspec.convert(body | changes, PublicState)


def alert(name: str, since: str = "2027-01-01T00:00:10.000+00:00") -> dict[str, Any]:
    """Return an alert of the catalogue as JSON has it."""
    words = dict.fromkeys(("cause", "action", "cause_zh", "action_zh"), name.lower())
    return {"code": 1, "name": name, "since": since} | words


def call(reason: str, since: str = "2027-01-01T00:00:10.000+00:00", **more: Any) -> dict[str, Any]:
    """Return a call as JSON has it."""
    return {"seat": None, "reason": reason, "since": since} | more


def behind(dealer: str | None, reader: str | None, trigger: str | None) -> dict[str, Any]:
    """Return boards with these HALs as a state has them; None for a board that is not there."""
    boards = {"dealer": dealer, "reader": reader}
    told: dict[str, Any] = {
        name: None if hal is None else FIRMWARE | {"hal": hal} for name, hal in boards.items()
    }
    return told | {"trigger": trigger}


def list_reasons(
    said: PublicState | None, how: Freshness, since_ms: int, *, skew_ms: int = 0
) -> tuple[WaitReason, ...]:
    """Return the reasons for which a table waits that said this last."""
    times = ContactTimes(skew_ms=skew_ms)
    seen = TableSnapshot(table="T01", area="A", state=said, contact_times=times)
    return list_table_reasons(seen, (how, since_ms))

"""The parts of a match that moves to another table."""

from typing import Any

from controller.signing.signed_heads import verify_key
from sim.tables.table_in_process import TABLE_SIGN


def taking(part: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `take_over` for one part, with the key of the first table."""
    own = {name: part[name] for name in ("digest", "sig", "part", "parts", "text")}
    return {**own, "verify": verify_key(TABLE_SIGN).hex()}

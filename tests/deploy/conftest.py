"""Real processes of a table under the limits that its units set."""

from tests.isolation.tables import (
    apart_boards,
    as_root,
    gateway_user,
    house,
    machine_user,
    open_folder,
    reachable,
)

__all__ = [
    "apart_boards",
    "as_root",
    "gateway_user",
    "house",
    "machine_user",
    "open_folder",
    "reachable",
]

"""Tables whose processes are looked at from outside, as one user and as two."""

from tests.isolation.tables import (
    apart_boards,
    as_root,
    gateway_user,
    house,
    machine_user,
    open_folder,
    reachable,
    sees_all,
    sitting,
    start_as,
    stranger,
    two_users,
)
from tests.processes.tables import boards, dealtable, mark, people, start, table

__all__ = [
    "apart_boards",
    "as_root",
    "boards",
    "dealtable",
    "gateway_user",
    "house",
    "machine_user",
    "mark",
    "open_folder",
    "people",
    "reachable",
    "sees_all",
    "sitting",
    "start",
    "start_as",
    "stranger",
    "table",
    "two_users",
]

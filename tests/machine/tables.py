"""The type of the fixture `table`, which makes tables in process."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from sim.tables.table_in_process import TableInProcess

Tables = Callable[..., AbstractAsyncContextManager[TableInProcess]]
"""Faults of the menu, and options of `trial`: `async with table("missing_card") as at`."""

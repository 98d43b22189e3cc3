"""Plans of halls with real tables."""

import pytest

SPEED = 20.0
TWO_TABLES = pytest.mark.parametrize("how_many", [2], ids=["two tables"])
"""Each table is three processes; the default is one."""

"""The page of limits says what the tables say."""

import os

from tests.acceptance.page import PAGE, WRITE, page


def test_the_page_of_limits_is_that_of_the_tables() -> None:
    if WRITE in os.environ:
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), f"{WRITE}=1 writes it again"

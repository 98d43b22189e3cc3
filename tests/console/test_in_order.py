"""The order of tables and areas in lists."""

from controller.console.table_snapshots import natural_sort_key


def test_two_comes_before_ten_and_small_letters_make_no_difference() -> None:
    names = ["T10", "t2", "B1-10", "B1-9", "T1", "10", "2"]
    assert sorted(names, key=natural_sort_key) == ["2", "10", "B1-9", "B1-10", "T1", "t2", "T10"]

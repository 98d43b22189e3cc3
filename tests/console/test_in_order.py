"""The order of tables and areas in lists."""

from controller.console.in_order import in_order


def test_two_comes_before_ten_and_small_letters_make_no_difference() -> None:
    names = ["T10", "t2", "B1-10", "B1-9", "T1", "10", "2"]
    assert sorted(names, key=in_order) == ["2", "10", "B1-9", "B1-10", "T1", "t2", "T10"]

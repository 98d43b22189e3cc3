import pytest

from controller.rules.ranks import ACE, PAST_A, TWO, level_text, parse_level


def test_there_are_fourteen_grades_from_two_to_past_a() -> None:
    texts = [level_text(grade) for grade in range(TWO, PAST_A + 1)]
    assert texts == ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "A+"]


def test_a_grade_reads_back_as_it_is_written() -> None:
    grades = list(range(TWO, PAST_A + 1))
    assert [parse_level(level_text(grade)) for grade in grades] == grades


@pytest.mark.parametrize(
    ("written", "grade"), [("T", 10), ("t", 10), (" j ", 11), ("a", ACE), ("a+", PAST_A)]
)
def test_people_may_write_small_letters_spaces_and_t(written: str, grade: int) -> None:
    assert parse_level(written) == grade


@pytest.mark.parametrize("written", ["", "1", "11", "14", "SJ", "A++", "two"])
def test_anything_else_is_no_level_and_said_so(written: str) -> None:
    with pytest.raises(ValueError, match=r'no level is called ".*": write 2…10, J, Q, K, A or A\+'):
        parse_level(written)


@pytest.mark.parametrize("number", [1, 16])
def test_no_grade_lies_outside_two_and_past_a(number: int) -> None:
    with pytest.raises(KeyError):
        level_text(number)

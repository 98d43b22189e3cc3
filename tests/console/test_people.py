"""Names and PINs: who is let in, who is not, and who guesses."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from controller.console.people import (
    FREE_GUESSES,
    LONGEST_WAIT_MS,
    SESSION_MS,
    NotAllowed,
    People,
    Person,
)
from controller.console.store.archive import open_engine
from controller.messages import Role

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
LI = Person(name="Li Na", role=Role.REFEREE, language="zh")


class Clock:
    """A clock that stands until it is moved."""

    ms = 1_000_000

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def clock() -> Clock:
    """A clock of the test's own."""
    return Clock()


@pytest.fixture
def people(tmp_path: Path, clock: Clock) -> Iterator[People]:
    """A console that knows nobody."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    numbers = count(1)
    yield People(engine, clock, lambda size: next(numbers).to_bytes(size, "big"), QUICK)
    engine.dispose()


@pytest.fixture
def li(people: People) -> Person:
    """Somebody who has set his PIN."""
    return people.accept(people.invite(LI), "4711")


def test_who_is_invited_sets_a_pin_and_is_let_in(people: People, li: Person) -> None:
    who, token = people.log_in("Li Na", "4711")
    assert who == li == LI
    assert people.whose(token) == LI


def test_an_invitation_is_good_once(people: People) -> None:
    code = people.invite(LI)
    people.accept(code.lower(), "4711")
    with pytest.raises(NotAllowed, match="ask for a new one"):
        people.accept(code, "9999")


@pytest.mark.parametrize("pin", ["", "123", "12a4", "1234567890123", "１２３４"])
def test_a_pin_that_is_none_leaves_the_invitation_good(people: People, pin: str) -> None:
    code = people.invite(LI)
    with pytest.raises(NotAllowed, match="digits"):
        people.accept(code, pin)
    assert people.accept(code, "4711") == LI


@pytest.mark.parametrize(("name", "pin"), [("Li Na", "4712"), ("Li", "4711"), ("", "")])
def test_a_wrong_name_and_a_wrong_pin_hear_the_same(
    people: People, li: Person, name: str, pin: str
) -> None:
    with pytest.raises(NotAllowed, match="name or PIN is wrong"):
        people.log_in(name, pin)


def test_who_guesses_waits_ever_longer_even_with_the_right_pin(
    people: People, li: Person, clock: Clock
) -> None:
    for _ in range(FREE_GUESSES):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in("Li Na", "0000")
    with pytest.raises(NotAllowed, match="wait 30 s"):
        people.log_in("Li Na", "4711")
    clock.ms += 30_000
    with pytest.raises(NotAllowed, match=r"wrong$"):
        people.log_in("Li Na", "0000")
    with pytest.raises(NotAllowed, match="wait 60 s"):
        people.log_in("Li Na", "4711")
    clock.ms += LONGEST_WAIT_MS
    assert people.log_in("Li Na", "4711")[0] == LI


def test_a_session_ends_with_the_day(people: People, li: Person, clock: Clock) -> None:
    _, token = people.log_in("Li Na", "4711")
    clock.ms += SESSION_MS - 1
    assert people.whose(token) == LI
    clock.ms += 1
    assert people.whose(token) is None


def test_who_logs_out_is_out_and_others_stay(people: People, li: Person) -> None:
    _, here = people.log_in("Li Na", "4711")
    _, there = people.log_in("Li Na", "4711")
    people.log_out(here)
    assert people.whose(here) is None
    assert people.whose(there) == LI


def test_who_is_removed_is_out_at_once_and_for_good(people: People, li: Person) -> None:
    _, token = people.log_in("Li Na", "4711")
    assert people.remove("Li Na")
    assert people.whose(token) is None
    assert people.all() == []
    with pytest.raises(NotAllowed):
        people.log_in("Li Na", "4711")
    assert not people.remove("Li Na")


def test_a_new_invitation_changes_the_role_and_keeps_the_pin_until_it_is_used(
    people: People, li: Person
) -> None:
    code = people.invite(Person(name="Li Na", role=Role.CHIEF, language="en"))
    assert people.log_in("Li Na", "4711")[0].role is Role.CHIEF
    people.accept(code, "0815")
    with pytest.raises(NotAllowed):
        people.log_in("Li Na", "4711")
    assert people.log_in("Li Na", "0815")[0].language == "en"


def test_neither_pin_nor_token_nor_code_lies_in_the_database(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "console.db"
    engine = open_engine(f"sqlite:///{path}")
    numbers = count(1)
    people = People(engine, clock, lambda size: next(numbers).to_bytes(size, "big"), QUICK)
    code = people.invite(LI)
    people.accept(code, "471147114711")
    _, token = people.log_in("Li Na", "471147114711")
    people.invite(LI)
    engine.dispose()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for secret in (code, "471147114711", token):
        assert secret.encode() not in kept

"""Names and PINs: who is let in, who is not, and who guesses."""

import hashlib
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Literal

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import VerifyMismatchError
from sqlalchemy import select

from controller.console.accounts import login_throttle
from controller.console.accounts.account_store import (
    INVITATION_MS,
    MAX_SESSIONS,
    SESSION_MS,
    Account,
    Accounts,
    NotAllowed,
)
from controller.console.accounts.login_throttle import (
    FORGET_AFTER_MS,
    FREE_ATTEMPTS_PER_ADDRESS,
    FREE_ATTEMPTS_PER_NAME,
    MAX_WAIT_MS,
    LoginThrottle,
)
from controller.console.store.database import open_engine
from controller.console.store.database_schema import SESSIONS
from controller.messages import Role
from tests.console.fake import QUICK

LI = Account(name="Li Na", role=Role.REFEREE, language="zh")


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
def people(tmp_path: Path, clock: Clock) -> Iterator[Accounts]:
    """A console that knows nobody."""
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    numbers = count(1)
    yield Accounts(engine, clock, lambda size: next(numbers).to_bytes(size, "big"), QUICK)
    engine.dispose()


@pytest.fixture
def li(people: Accounts) -> Account:
    """Somebody who has set his PIN."""
    return people.accept_invitation(people.invite(LI), "4711")


def test_who_is_invited_sets_a_pin_and_is_let_in(people: Accounts, li: Account) -> None:
    who, token = people.log_in("Li Na", "4711")
    assert who == li == LI
    assert people.session_owner(token) == LI


def test_a_name_that_nobody_has_costs_as_much_to_refuse_as_one_that_somebody_has(
    people: Accounts,
) -> None:
    nobodys = people._dummy_hash
    assert extract_parameters(nobodys) == extract_parameters(QUICK.hash("4711"))
    with pytest.raises(VerifyMismatchError):  # worked out and compared, not taken for broken
        QUICK.verify(nobodys, "4711")


class Meanwhile(PasswordHasher):
    """Checks PINs, and something else happens while it does."""

    happens: Callable[[], object] = staticmethod(lambda: None)

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        right = super().verify(hash, password)
        self.happens()
        return right


@pytest.mark.parametrize("what", ["removed", "removed and invited", "a new PIN"])
def test_who_is_let_go_while_his_pin_is_checked_is_not_let_in_later(
    people: Accounts, li: Account, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    hasher = Meanwhile(time_cost=1, memory_cost=8, parallelism=1)

    def happens() -> None:
        if what != "a new PIN":
            people.remove("Li Na")
        if what != "removed":
            code = people.invite(LI)
            if what == "a new PIN":
                people.accept_invitation(code, "2222")

    monkeypatch.setattr(hasher, "happens", happens)
    monkeypatch.setattr(people, "_hasher", hasher)
    with pytest.raises(NotAllowed, match="name or PIN is wrong"):
        people.log_in("Li Na", "4711")
    people.invite(LI)
    with people._engine.connect() as base:
        assert base.execute(select(SESSIONS)).all() == []


def test_who_was_removed_begins_no_session(people: Accounts, li: Account) -> None:
    people.remove("Li Na")
    with pytest.raises(NotAllowed):
        people.start_session("Li Na")


def test_an_invitation_is_good_once(people: Accounts) -> None:
    code = people.invite(LI)
    people.accept_invitation(code.lower(), "4711")
    with pytest.raises(NotAllowed, match="ask for a new one"):
        people.accept_invitation(code, "9999")


def test_an_invitation_that_nobody_used_ends(people: Accounts, clock: Clock) -> None:
    code = people.invite(LI)
    assert people.invited_until_ms("Li Na") == clock.ms + INVITATION_MS
    clock.ms += INVITATION_MS
    with pytest.raises(NotAllowed, match="is over"):
        people.accept_invitation(code, "4711")
    assert people.accept_invitation(people.invite(LI), "4711") == LI
    assert people.invited_until_ms("Li Na") is None


def test_the_last_code_of_a_person_alone_is_good(people: Accounts, li: Account) -> None:
    codes = [people.invite(LI) for _ in range(3)]
    for code in codes[:2]:
        with pytest.raises(NotAllowed, match="ask for a new one"):
            people.accept_invitation(code, "0815")
    assert people.accept_invitation(codes[2], "0815") == LI


def test_the_code_of_somebody_who_was_removed_is_good_for_nothing(people: Accounts) -> None:
    code = people.invite(LI)
    people.remove("Li Na")
    with pytest.raises(NotAllowed):
        people.accept_invitation(code, "4711")
    assert people.invited_until_ms("Li Na") is None


@pytest.mark.parametrize("pin", ["", "123", "12a4", "1234567890123", "１２３４"])
def test_a_pin_that_is_none_leaves_the_invitation_good(people: Accounts, pin: str) -> None:
    code = people.invite(LI)
    with pytest.raises(NotAllowed, match="digits"):
        people.accept_invitation(code, pin)
    assert people.accept_invitation(code, "4711") == LI


@pytest.mark.parametrize(("name", "pin"), [("Li Na", "4712"), ("Li", "4711"), ("", "")])
def test_a_wrong_name_and_a_wrong_pin_hear_the_same(
    people: Accounts, li: Account, name: str, pin: str
) -> None:
    with pytest.raises(NotAllowed, match="name or PIN is wrong"):
        people.log_in(name, pin)


def test_who_guesses_waits_ever_longer_even_with_the_right_pin(
    people: Accounts, li: Account, clock: Clock
) -> None:
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in("Li Na", "0000")
    with pytest.raises(NotAllowed, match="wait 30 s"):
        people.log_in("Li Na", "4711")
    clock.ms += 30_000
    with pytest.raises(NotAllowed, match=r"wrong$"):
        people.log_in("Li Na", "0000")
    with pytest.raises(NotAllowed, match="wait 60 s"):
        people.log_in("Li Na", "4711")
    clock.ms += MAX_WAIT_MS
    assert people.log_in("Li Na", "4711")[0] == LI


HERE, THERE = "10.0.0.7", "10.0.0.66"


def test_wrong_pins_from_elsewhere_keep_nobody_out_of_his_own_tablet(
    people: Accounts, li: Account, clock: Clock
) -> None:
    people.log_in("Li Na", "4711", HERE)
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in("Li Na", "0000", THERE)
    with pytest.raises(NotAllowed, match="wait"):
        people.log_in("Li Na", "4711", THERE)
    assert people.log_in("Li Na", "4711", HERE)[0] == LI


def test_his_own_tablet_has_free_guesses_and_no_more(people: Accounts, li: Account) -> None:
    people.log_in("Li Na", "4711", HERE)
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in("Li Na", "0000", HERE)
    with pytest.raises(NotAllowed, match="wait"):
        people.log_in("Li Na", "4711", HERE)


def test_who_is_removed_or_has_a_new_pin_has_no_tablet_any_more(
    people: Accounts, li: Account
) -> None:
    for end in (lambda: people.remove("Li Na"), lambda: None):
        people.accept_invitation(people.invite(LI), "4711")
        people.log_in("Li Na", "4711", HERE)
        end()
        people.accept_invitation(people.invite(LI), "4711")
        for _ in range(FREE_ATTEMPTS_PER_NAME):
            with pytest.raises(NotAllowed, match=r"wrong$"):
                people.log_in("Li Na", "0000", THERE)
        with pytest.raises(NotAllowed, match="wait"):
            people.log_in("Li Na", "4711", HERE)


def test_an_address_that_tries_one_pin_at_many_names_waits(people: Accounts, li: Account) -> None:
    for number in range(FREE_ATTEMPTS_PER_ADDRESS):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in(f"somebody {number}", "4711", THERE)
    with pytest.raises(NotAllowed, match="wait 30 s"):
        people.log_in("Li Na", "4711", THERE)
    with pytest.raises(NotAllowed, match="wait 30 s"):
        people.refuse_while_waiting("Li Na", THERE)
    people.refuse_while_waiting("Li Na", HERE)
    assert people.log_in("Li Na", "4711", HERE)[0] == LI


def test_to_log_in_oneself_between_two_guesses_frees_no_address(
    people: Accounts, li: Account
) -> None:
    people.accept_invitation(people.invite(Account(name="guest", role=Role.OBSERVER)), "0815")
    for number in range(FREE_ATTEMPTS_PER_ADDRESS):
        people.log_in("guest", "0815", THERE)
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in(f"somebody {number}", "4711", THERE)
    with pytest.raises(NotAllowed, match="wait"):
        people.log_in("Li Na", "4711", THERE)


def test_wrong_pins_of_long_ago_are_forgotten(people: Accounts, li: Account, clock: Clock) -> None:
    for wait_s in (30, 60):
        for _ in range(FREE_ATTEMPTS_PER_NAME if wait_s == 30 else 1):
            with pytest.raises(NotAllowed, match=r"wrong$"):
                people.log_in("Li Na", "0000")
        with pytest.raises(NotAllowed, match=f"wait {wait_s} s"):
            people.log_in("Li Na", "0000")
        clock.ms += wait_s * 1000
    clock.ms += FORGET_AFTER_MS + 1
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in("Li Na", "0000")


def test_a_clock_that_is_set_back_makes_nobody_wait_for_it(
    people: Accounts, li: Account, clock: Clock
) -> None:
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        with pytest.raises(NotAllowed, match=r"wrong$"):
            people.log_in("Li Na", "0000")
    clock.ms -= 3_600_000
    with pytest.raises(NotAllowed, match=r"wrong$"):
        people.log_in("Li Na", "0000")
    with pytest.raises(NotAllowed, match="wait 60 s"):
        people.log_in("Li Na", "4711")


def test_who_waits_tells_nobody_which_names_there_are(people: Accounts) -> None:
    """Made-up names are counted many together: with which ones nobody can reckon."""
    of_one: dict[str, list[str]] = {}
    for number in range(200):
        name = f"somebody {number}"
        of_one.setdefault(hashlib.sha256(name.encode()).hexdigest()[:1], []).append(name)
    counted = {
        bytes([secret]): [
            {
                LoginThrottle(lambda: 0, bytes([secret]))._unknown_name_bucket(name)[:1]
                for name in names
            }
            for names in of_one.values()
        ]
        for secret in (1, 2)
    }
    assert all(len(apart) > 1 for groups in counted.values() for apart in groups)
    assert counted[b"\1"] != counted[b"\2"]


def test_what_is_known_of_addresses_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_throttle, "MAX_ADDRESSES", 10)
    known = LoginThrottle(lambda: 0, b"secret")
    for number in range(100):
        known.count_failure("nobody", f"10.0.0.{number}", known=False)
        known.count_success("Li Na", f"10.0.1.{number}")
    assert len(known._trusted) == 10
    assert len([kind for kind, *_ in known._failures if kind == "host"]) == 10


def test_a_session_ends_with_the_day(people: Accounts, li: Account, clock: Clock) -> None:
    _, token = people.log_in("Li Na", "4711")
    clock.ms += SESSION_MS - 1
    assert people.session_owner(token) == LI
    clock.ms += 1
    assert people.session_owner(token) is None


def test_sessions_outlive_the_console_and_leave_no_rows(
    tmp_path: Path, clock: Clock, people: Accounts, li: Account
) -> None:
    _, token = people.log_in("Li Na", "4711")
    engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    numbers = count(1 << 20)
    again = Accounts(engine, clock, lambda size: next(numbers).to_bytes(size, "big"), QUICK)
    assert again.session_owner(token) == LI
    clock.ms += SESSION_MS
    again.log_in("Li Na", "4711")
    with engine.connect() as base:
        assert len(base.execute(select(SESSIONS)).all()) == 1
    engine.dispose()


def test_one_person_has_so_many_sessions_and_the_oldest_ends(
    people: Accounts, li: Account, clock: Clock
) -> None:
    tokens = []
    for _ in range(MAX_SESSIONS + 2):
        clock.ms += 1
        tokens.append(people.log_in("Li Na", "4711")[1])
    assert [people.session_owner(token) for token in tokens[:3]] == [None, None, LI]
    assert people.session_owner(tokens[-1]) == LI


@pytest.mark.parametrize(
    ("now", "stays"),
    [
        (LI, True),
        (Account(name="Li Na", role=Role.REFEREE, language="en"), True),
        (Account(name="Li Na", role=Role.CHIEF), False),
        (Account(name="Li Na", role=Role.OBSERVER), False),
        (Account(name="Li Na", role=Role.TABLE, table="T01"), False),
    ],
)
def test_another_role_ends_the_sessions_of_the_old_one(
    people: Accounts, li: Account, now: Account, stays: bool
) -> None:
    _, token = people.log_in("Li Na", "4711")
    people.invite(now)
    assert people.session_owner(token) == (now if stays else None)


def test_who_logs_out_is_out_and_others_stay(people: Accounts, li: Account) -> None:
    _, here = people.log_in("Li Na", "4711")
    _, there = people.log_in("Li Na", "4711")
    people.log_out(here)
    assert people.session_owner(here) is None
    assert people.session_owner(there) == LI


def test_who_is_removed_is_out_at_once_and_for_good(people: Accounts, li: Account) -> None:
    _, token = people.log_in("Li Na", "4711")
    assert people.remove("Li Na")
    assert people.session_owner(token) is None
    assert people.list_accounts() == []
    with pytest.raises(NotAllowed):
        people.log_in("Li Na", "4711")
    assert not people.remove("Li Na")


def test_a_new_invitation_changes_the_role_and_keeps_the_pin_until_it_is_used(
    people: Accounts, li: Account
) -> None:
    code = people.invite(Account(name="Li Na", role=Role.CHIEF, language="en"))
    assert people.log_in("Li Na", "4711")[0].role is Role.CHIEF
    people.accept_invitation(code, "0815")
    with pytest.raises(NotAllowed):
        people.log_in("Li Na", "4711")
    assert people.log_in("Li Na", "0815")[0].language == "en"


def test_people_come_and_go_in_either_database(store_url: str, clock: Clock) -> None:
    engine = open_engine(store_url)
    numbers = count(1)
    people = Accounts(engine, clock, lambda size: next(numbers).to_bytes(size, "big"), QUICK)
    people.invite(LI)
    assert people.accept_invitation(people.invite(LI), "4711") == LI
    tokens = []
    for _ in range(MAX_SESSIONS + 1):
        clock.ms += 1
        tokens.append(people.log_in("Li Na", "4711")[1])
    assert [people.session_owner(token) for token in tokens[:2]] == [None, LI]
    people.invite(LI)
    (listed,) = people.list_accounts()
    assert (listed.name, listed.has_pin) == ("Li Na", True)
    assert listed.invited_until_ms == people.invited_until_ms("Li Na") == clock.ms + INVITATION_MS
    people.invite(Account(name="Li Na", role=Role.CHIEF))
    assert people.session_owner(tokens[1]) is None
    assert people.remove("Li Na")
    assert people.list_accounts() == []
    engine.dispose()


def test_neither_pin_nor_token_nor_code_lies_in_the_database(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "console.db"
    engine = open_engine(f"sqlite:///{path}")
    numbers = count(1)
    people = Accounts(engine, clock, lambda size: next(numbers).to_bytes(size, "big"), QUICK)
    code = people.invite(LI)
    people.accept_invitation(code, "471147114711")
    _, token = people.log_in("Li Na", "471147114711")
    people.invite(LI)
    engine.dispose()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for secret in (code, "471147114711", token):
        assert secret.encode() not in kept

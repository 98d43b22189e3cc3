"""Who may give orders: certificates, roles, and the table of commands."""

import re
from datetime import datetime
from pathlib import Path

import pytest
import zmq.auth
from msgspec.structs import replace
from nacl.exceptions import CryptoError

from controller.keys.enrolment import revoke_client
from controller.keys.table_keys import create_client_keys, create_table_keys
from controller.messages import Role
from controller.roster import (
    ADMITTED_FOLDER,
    Certificate,
    NotAdmitted,
    Roster,
    RosterError,
    fingerprint,
    parse_moment,
    read_certificate,
)
from controller.vault.sealing import seal_to


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    create_table_keys(tmp_path)
    return tmp_path


def test_every_admitted_client_is_known_by_its_signing_key(state_dir: Path) -> None:
    roster = Roster.load(state_dir)
    assert {client.role for client in roster.clients} == set(Role)
    for client in roster.clients:
        assert roster.admitted_client(client.verify) is client
        assert roster.admitted_client(client.verify.hex()) is client


@pytest.mark.parametrize("key", [None, "", "zz", "00" * 32, bytes(32), "00"])
def test_a_stranger_is_nobody(state_dir: Path, key: str | bytes | None) -> None:
    assert Roster.load(state_dir).admitted_client(key) is None


def test_a_key_has_one_spelling(state_dir: Path) -> None:
    roster = Roster.load(state_dir)
    key = next(c.verify.hex() for c in roster.clients if c.verify.hex() != c.verify.hex().upper())
    assert roster.admitted_client(key.upper()) is None
    assert roster.admitted_client(f" {key}") is None


def test_certificates_are_read_as_zeromq_reads_them(state_dir: Path) -> None:
    for path in [*state_dir.glob("*/*.key"), *state_dir.glob("*/*.key_secret")]:
        public, secret = zmq.auth.load_certificate(path)
        ours = read_certificate(path)
        assert ours.curve == public.decode()
        assert ours.curve_secret == (secret.decode() if secret else None)


def test_removing_a_file_shuts_its_client_out(state_dir: Path) -> None:
    referee = read_certificate(state_dir / "clients" / "referee.key")
    (state_dir / ADMITTED_FOLDER / "referee.key").unlink()
    assert Roster.load(state_dir).admitted_client(referee.verify) is None


def test_only_the_chief_is_sealed_to(state_dir: Path) -> None:
    roster = Roster.load(state_dir)
    chief = read_certificate(state_dir / "clients" / "chief.key_secret")
    assert roster.chief_seals() == (chief.seal,)
    assert chief.unseal is not None


def test_nothing_secret_is_printed(state_dir: Path) -> None:
    chief = read_certificate(state_dir / "clients" / "chief.key_secret")
    assert repr(chief) == "Certificate('chief', role=chief)"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("role = referee", "role = king", "'king' is not a valid Role"),
        ("    role = referee\n", "", "role is missing"),
        ("    name = referee\n", "", "name is missing"),
        ("verify = ", "verify = 00", "64 lower-case hex digits"),
        ('public-key = "', 'public-key = "~', "40 characters of Z85"),
        ("metadata\n", "metadata\n    name referee\n", "line 5 is no line of a certificate"),
    ],
)
def test_a_spoilt_certificate_is_one_line_naming_the_file(
    state_dir: Path, old: str, new: str, expected: str
) -> None:
    path = state_dir / ADMITTED_FOLDER / "referee.key"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(RosterError, match=expected) as refused:
        Roster.load(state_dir)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "seal",
    [
        "00" * 32,
        "01" + "00" * 31,
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ],
)
def test_a_key_that_nothing_can_be_sealed_to_is_refused_with_its_file(
    state_dir: Path, seal: str
) -> None:
    """Points of small order: a chief with one of them would end the machine at its next deal."""
    path = state_dir / ADMITTED_FOLDER / "chief.key"
    good = read_certificate(path).seal
    assert good is not None
    path.write_text(path.read_text().replace(good.hex(), seal))
    with pytest.raises(RosterError, match=r"chief\.key: seal: nothing can be sealed to this key"):
        Roster.load(state_dir)
    with pytest.raises(CryptoError):
        seal_to(bytes.fromhex(seal), bytes(32), bytes)


def test_a_secret_file_is_never_admitted(state_dir: Path) -> None:
    secret = (state_dir / "clients" / "referee.key_secret").read_text()
    (state_dir / ADMITTED_FOLDER / "referee.key").write_text(secret)
    with pytest.raises(RosterError, match="secret"):
        Roster.load(state_dir)


def test_one_key_cannot_have_two_roles(state_dir: Path) -> None:
    text = (state_dir / ADMITTED_FOLDER / "table.key").read_text()
    twin = text.replace("role = table", "role = chief").replace("name = table", "name = boss")
    (state_dir / ADMITTED_FOLDER / "boss.key").write_text(twin)
    with pytest.raises(RosterError, match="boss and table have the same verify"):
        Roster.load(state_dir)


def test_a_table_nobody_is_admitted_to_obeys_nobody(tmp_path: Path) -> None:
    assert Roster.load(tmp_path).clients == ()


@pytest.mark.parametrize("name", ["../table", "a/b", "", ".hidden", "a b", "a\x1b[2J", "x" * 41])
def test_a_name_that_is_no_files_name_is_refused(state_dir: Path, name: str) -> None:
    path = state_dir / ADMITTED_FOLDER / "referee.key"
    path.write_text(path.read_text().replace("name = referee", f"name = {name}"))
    with pytest.raises(RosterError) as refused:
        Roster.load(state_dir)
    assert "\x1b" not in str(refused.value)


def test_a_name_may_be_of_any_script(state_dir: Path) -> None:
    path = state_dir / ADMITTED_FOLDER / "referee.key"
    path.write_text(path.read_text().replace("name = referee", "name = 裁判长-2"), encoding="utf-8")
    assert "裁判长-2" in {client.name for client in Roster.load(state_dir).clients}


# Fingerprints.


def test_a_fingerprint_is_sixteen_digits_in_fours_and_the_same_for_both_files(
    state_dir: Path,
) -> None:
    public = read_certificate(state_dir / "clients" / "chief.key")
    secret = read_certificate(state_dir / "clients" / "chief.key_secret")
    assert re.fullmatch("(-[0-9a-f]{4}){4}", f"-{fingerprint(public)}")
    assert fingerprint(public) == fingerprint(secret)


@pytest.mark.parametrize("key", ["curve", "verify", "seal"])
def test_no_key_of_a_certificate_can_be_exchanged_under_its_fingerprint(
    state_dir: Path, key: str
) -> None:
    chief = read_certificate(state_dir / "clients" / "chief.key")
    other = {"curve": "T" * 40, "verify": bytes(32), "seal": bytes(32)}[key]
    assert fingerprint(replace(chief, **{key: other})) != fingerprint(chief)


# Time.


def at(text: str) -> datetime:
    return parse_moment(text)


def expiring(state_dir: Path, when: str, now: str) -> tuple[Roster, Certificate]:
    """The roster at a time, with a referee's certificate that has an end."""
    there = Roster.load(state_dir)
    referee = next(each for each in there.clients if each.role is Role.REFEREE)
    ending = replace(referee, expires=parse_moment(when))
    clients = [ending if each is referee else each for each in there.clients]
    return Roster(clients, (), lambda: at(now)), ending


@pytest.mark.parametrize(
    ("end", "now", "valid"),
    [
        ("2027-03-01", "2027-03-01T23:59:59.999Z", True),
        ("2027-03-01", "2027-03-02T00:00:00.000Z", False),
        ("2027-03-01T12:00:00Z", "2027-03-01T11:59:59.999Z", True),
        ("2027-03-01T12:00:00Z", "2027-03-01T12:00:00.000Z", False),
        ("2027-03-01T12:00:00+08:00", "2027-03-01T04:00:00.000Z", False),
    ],
)
def test_a_key_is_good_to_the_end_of_its_last_day_in_utc(
    state_dir: Path, end: str, now: str, valid: bool
) -> None:
    roster, referee = expiring(state_dir, end, now)
    assert (roster.admitted_client(referee.verify) is referee) == valid
    assert isinstance(roster.look_up_curve_key(referee.curve), Certificate) == valid


def test_who_expired_is_told_when(state_dir: Path) -> None:
    roster, referee = expiring(state_dir, "2027-03-01", "2028-01-01T00:00:00Z")
    assert roster.look_up_curve_key(referee.curve) == NotAdmitted(
        "KEY_EXPIRED", "referee", "2027-03-02 00:00 UTC"
    )


def test_a_chief_who_expired_is_not_sealed_to(state_dir: Path) -> None:
    there = Roster.load(state_dir)
    clients = [replace(each, expires=at("2027-03-01")) for each in there.clients]
    assert Roster(clients, (), lambda: at("2027-03-01T00:00:00Z")).chief_seals()
    assert not Roster(clients, (), lambda: at("2027-04-01T00:00:00Z")).chief_seals()


@pytest.mark.parametrize(
    ("now", "soon"), [("2027-02-22T00:00:00Z", 0), ("2027-02-24T00:00:00Z", 1), ("2027-04-01", 0)]
)
def test_a_week_before_its_end_a_key_is_about_to_expire(
    state_dir: Path, now: str, soon: int
) -> None:
    assert len(expiring(state_dir, "2027-03-01", now)[0].expiring_clients()) == soon


@pytest.mark.parametrize("text", ["tomorrow", "2027-13-01", "2027-03-01T12:00", "", "9999-12-31"])
def test_what_is_no_date_is_one_line(state_dir: Path, text: str) -> None:
    path = state_dir / ADMITTED_FOLDER / "referee.key"
    path.write_text(path.read_text().replace("curve\n", f"    expires = {text}\ncurve\n"))
    with pytest.raises(RosterError) as refused:
        Roster.load(state_dir)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


# Renewal and revocation.


def test_one_name_may_have_two_keys_while_one_of_them_ends(state_dir: Path) -> None:
    path = state_dir / ADMITTED_FOLDER / "referee.key"
    second = create_client_keys(state_dir / "elsewhere", "referee", Role.REFEREE).read_text()
    (state_dir / ADMITTED_FOLDER / "referee-2.key").write_text(second)
    with pytest.raises(RosterError, match="the same name"):
        Roster.load(state_dir)
    path.write_text(path.read_text().replace("curve\n", "    expires = 2027-03-01\ncurve\n"))
    assert [each.name for each in Roster.load(state_dir).clients].count("referee") == 2


def test_a_key_in_revoked_is_refused_also_where_its_file_is_back_in_admitted(
    state_dir: Path,
) -> None:
    path = state_dir / ADMITTED_FOLDER / "chief.key"
    text = path.read_text()
    chief = read_certificate(path)
    revoke_client(state_dir, "chief", "laptop lost", at("2027-03-01T12:00:00Z"))
    path.write_text(text)

    roster = Roster.load(state_dir)

    assert roster.admitted_client(chief.verify) is None
    assert roster.chief_seals() == ()
    assert roster.look_up_signing_key(chief.verify) == NotAdmitted(
        "KEY_REVOKED", "chief", "2027-03-01 12:00 UTC, laptop lost"
    )

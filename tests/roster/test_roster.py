"""Who may give orders: certificates, roles, and the table of commands."""

from pathlib import Path

import pytest
import zmq.auth
from click.testing import CliRunner

from controller.cli.keys import command
from controller.gateway.certificates import create_client, create_keys
from controller.messages import Role
from controller.roster import ADMITTED, Roster, RosterError, read_certificate


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    create_keys(tmp_path)
    return tmp_path


def test_every_admitted_client_is_known_by_its_signing_key(state_dir: Path) -> None:
    roster = Roster.load(state_dir)
    assert {client.role for client in roster.clients} == set(Role)
    for client in roster.clients:
        assert roster.client(client.verify) is client
        assert roster.client(client.verify.hex()) is client


@pytest.mark.parametrize("key", [None, "", "zz", "00" * 32, bytes(32), "00"])
def test_a_stranger_is_nobody(state_dir: Path, key: str | bytes | None) -> None:
    assert Roster.load(state_dir).client(key) is None


def test_a_key_has_one_spelling(state_dir: Path) -> None:
    roster = Roster.load(state_dir)
    key = next(c.verify.hex() for c in roster.clients if c.verify.hex() != c.verify.hex().upper())
    assert roster.client(key.upper()) is None
    assert roster.client(f" {key}") is None


def test_certificates_are_read_as_zeromq_reads_them(state_dir: Path) -> None:
    for path in [*state_dir.glob("*/*.key"), *state_dir.glob("*/*.key_secret")]:
        public, secret = zmq.auth.load_certificate(path)
        ours = read_certificate(path)
        assert ours.curve == public.decode()
        assert ours.curve_secret == (secret.decode() if secret else None)


def test_removing_a_file_shuts_its_client_out(state_dir: Path) -> None:
    referee = read_certificate(state_dir / "clients" / "referee.key")
    (state_dir / ADMITTED / "referee.key").unlink()
    assert Roster.load(state_dir).client(referee.verify) is None


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
    path = state_dir / ADMITTED / "referee.key"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(RosterError, match=expected) as refused:
        Roster.load(state_dir)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_secret_file_is_never_admitted(state_dir: Path) -> None:
    secret = (state_dir / "clients" / "referee.key_secret").read_text()
    (state_dir / ADMITTED / "referee.key").write_text(secret)
    with pytest.raises(RosterError, match="secret"):
        Roster.load(state_dir)


def test_one_key_cannot_have_two_roles(state_dir: Path) -> None:
    text = (state_dir / ADMITTED / "table.key").read_text()
    twin = text.replace("role = table", "role = chief").replace("name = table", "name = boss")
    (state_dir / ADMITTED / "boss.key").write_text(twin)
    with pytest.raises(RosterError, match="boss and table have the same verify"):
        Roster.load(state_dir)


def test_a_table_nobody_is_admitted_to_obeys_nobody(tmp_path: Path) -> None:
    assert Roster.load(tmp_path).clients == ()


# The command line.


def run(*args: object) -> tuple[int, str]:
    result = CliRunner().invoke(command, [str(arg) for arg in args])
    return result.exit_code, result.output


def test_keys_are_made_once_and_listed(tmp_path: Path) -> None:
    code, listed = run("create", tmp_path)
    assert code == 0
    assert [line.split()[0] for line in listed.splitlines()] == sorted(role.value for role in Role)
    assert run("create", tmp_path) == (0, listed)
    assert run("list", tmp_path) == (0, listed)


def test_a_client_is_made_admitted_and_listed(state_dir: Path) -> None:
    code, said = run("client", state_dir, "console-2", "--role", "referee")
    assert code == 0
    assert "console-2.key_secret" in said
    assert "console-2" in run("list", state_dir)[1]


def test_a_client_of_that_name_and_another_role_is_refused(state_dir: Path) -> None:
    code, said = run("client", state_dir, "referee", "--role", "chief")
    assert (code, said.count("\n")) == (2, 1)
    assert "exists already, as referee" in said


def test_a_certificate_from_elsewhere_is_admitted(tmp_path: Path, state_dir: Path) -> None:
    public = create_client(tmp_path / "elsewhere", "hall-display", Role.OBSERVER)
    assert run("admit", state_dir, public)[0] == 0
    assert "hall-display" in run("list", state_dir)[1]


def test_no_secret_is_admitted_by_mistake(tmp_path: Path, state_dir: Path) -> None:
    public = create_client(tmp_path / "elsewhere", "hall-display", Role.OBSERVER)
    assert run("admit", state_dir, public.with_suffix(".key_secret"))[0] == 2


def test_a_table_without_keys_says_what_to_do(tmp_path: Path) -> None:
    code, said = run("list", tmp_path)
    assert code == 2
    assert "dealtable keys create" in said

"""The key files: made once, readable with ZeroMQ and without, secrets for their owner alone."""

import stat
from pathlib import Path

import pytest
import zmq.auth
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.gateway.certificates import admit, create_client, create_keys
from controller.messages import Role
from controller.roster import ADMITTED, Roster, RosterError, read_certificate


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a whole set of keys."""
    create_keys(tmp_path)
    return tmp_path


def test_every_role_has_an_admitted_client_of_its_name(files: Path) -> None:
    clients = Roster.load(files).clients

    assert {client.name: client.role for client in clients} == {role.value: role for role in Role}


@pytest.mark.parametrize("name", ["keys/table", *(f"clients/{role}" for role in Role)])
def test_a_pair_fits_together_for_zeromq_and_for_us(files: Path, name: str) -> None:
    public, secret = files / f"{name}.key", files / f"{name}.key_secret"
    ours, theirs = read_certificate(secret), zmq.auth.load_certificate(secret)

    assert (ours.curve.encode(), (ours.curve_secret or "").encode()) == theirs
    assert zmq.curve_public(theirs[1] or b"") == theirs[0]
    assert zmq.auth.load_certificate(public) == (theirs[0], None)
    assert ours.sign is not None
    assert bytes(SigningKey(ours.sign).verify_key) == ours.verify
    assert read_certificate(public).verify == ours.verify


def test_a_public_file_holds_no_secret(files: Path) -> None:
    for file in files.glob("*/*.key"):
        certificate = read_certificate(file)
        assert (certificate.curve_secret, certificate.sign, certificate.unseal) == (None,) * 3


def test_only_the_chief_can_open_what_is_sealed(files: Path) -> None:
    chief = read_certificate(files / "clients" / "chief.key_secret")

    assert chief.unseal is not None
    assert Roster.load(files).chief_seals() == (bytes(PrivateKey(chief.unseal).public_key),)
    assert read_certificate(files / "clients" / "referee.key").seal is None


def test_secrets_and_their_folders_are_for_their_owner_alone(files: Path) -> None:
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in files.rglob("*")}

    assert {modes[path] for path in modes if path.is_dir()} == {0o700}
    assert {modes[path] for path in modes if path.suffix == ".key_secret"} == {0o600}


def test_keys_that_are_there_stay(files: Path) -> None:
    (files / ADMITTED / "observer.key").unlink()
    before = contents(files)

    create_keys(files)

    assert contents(files) == before


@pytest.mark.parametrize("done", range(0, 17, 4))
def test_an_interrupted_call_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    left = iter(range(done))

    def write_some(path: Path, text: str, mode: int) -> None:
        if next(left, None) is None:
            raise OSError("no space left")
        write_new(path, text, mode)

    from controller.gateway import certificates

    write_new = certificates._write_new
    with monkeypatch.context() as broken:
        broken.setattr(certificates, "_write_new", write_some)
        with pytest.raises(OSError, match="no space"):
            create_keys(tmp_path)
    before = contents(tmp_path)

    create_keys(tmp_path)

    assert before.items() <= contents(tmp_path).items()
    assert len(contents(tmp_path)) == 17
    assert len(Roster.load(tmp_path).clients) == len(Role)


def test_nothing_is_ever_overwritten(files: Path) -> None:
    guest = create_client(files / "elsewhere", "chief", Role.REFEREE)
    before = contents(files)

    with pytest.raises(FileExistsError):
        admit(files, guest)

    assert contents(files) == before


def test_admitting_twice_is_admitting_once(files: Path) -> None:
    guest = create_client(files, "guest", Role.OBSERVER)

    assert admit(files, guest) == admit(files, guest)


def test_neither_a_secret_nor_the_tables_own_key_is_admitted(files: Path) -> None:
    with pytest.raises(RosterError, match="public"):
        admit(files, files / "clients" / "chief.key_secret")
    with pytest.raises(RosterError, match="public"):
        admit(files, files / "keys" / "table.key")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*.key*")}

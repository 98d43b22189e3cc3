"""The key files: made once, readable with ZeroMQ and without, secrets for their owner alone."""

import os
import stat
from pathlib import Path

import pytest
import zmq.auth
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.keys.enrolment import admit_file
from controller.keys.table_keys import FIRST_CLIENTS, create_client_keys, create_table_keys
from controller.messages import Role
from controller.roster import (
    ADMITTED_FOLDER,
    Roster,
    RosterError,
    read_certificate,
    read_sign_secret,
)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a whole set of keys."""
    create_table_keys(tmp_path)
    return tmp_path


def test_every_role_has_an_admitted_client_of_its_name_and_watch_one_of_its_own(
    files: Path,
) -> None:
    clients = Roster.load(files).clients

    by_name = {role.value: role for role in Role}
    assert {client.name: client.role for client in clients} == by_name | {"watch": Role.OBSERVER}


@pytest.mark.parametrize("name", ["keys/table", *(f"clients/{name}" for name, _ in FIRST_CLIENTS)])
def test_a_pair_fits_together_for_zeromq_and_for_us(files: Path, name: str) -> None:
    public, secret = files / f"{name}.key", files / f"{name}.key_secret"
    ours, theirs = read_certificate(secret), zmq.auth.load_certificate(secret)

    assert (ours.curve.encode(), (ours.curve_secret or "").encode()) == theirs
    assert zmq.curve_public(theirs[1] or b"") == theirs[0]
    assert zmq.auth.load_certificate(public) == (theirs[0], None)
    assert read_certificate(public).verify == ours.verify


@pytest.mark.parametrize("role", list(Role))
def test_a_client_signs_with_its_secret_file(files: Path, role: Role) -> None:
    secret = read_certificate(files / "clients" / f"{role}.key_secret")

    assert secret.sign is not None
    assert bytes(SigningKey(secret.sign).verify_key) == secret.verify


def test_the_tables_two_secrets_lie_apart(files: Path) -> None:
    signs, encrypts = files / "keys" / "table.sign", files / "keys" / "table.key_secret"
    verify = bytes(SigningKey(read_sign_secret(files)).verify_key)

    assert read_certificate(encrypts).sign is None
    assert (read_certificate(encrypts).curve_secret or "?") not in signs.read_text()
    assert verify == read_certificate(files / "keys" / "table.key").verify


def test_a_gateway_with_a_folder_of_its_own_cannot_sign_for_the_table(tmp_path: Path) -> None:
    state_dir, gateway_dir = tmp_path / "state", tmp_path / "gateway"
    create_table_keys(state_dir, gateway_dir)

    assert {str(path.relative_to(gateway_dir)) for path in contents(gateway_dir)} == {
        "keys/table.key",
        "keys/table.key_secret",
        *(f"admitted/{name}.key" for name, _ in FIRST_CLIENTS),
        *(
            f"clients/{name}.{ending}"
            for name, _ in FIRST_CLIENTS
            for ending in ("key", "key_secret")
        ),
    }
    assert sorted(path.name for path in (state_dir / "keys").iterdir()) == [
        "table.key",
        "table.sign",
    ]
    assert os.listdir(state_dir) == ["keys"]
    same = {(folder / "keys" / "table.key").read_text() for folder in (state_dir, gateway_dir)}
    assert len(same) == 1
    assert read_sign_secret(state_dir)
    before = contents(tmp_path)
    create_table_keys(state_dir, gateway_dir)
    assert contents(tmp_path) == before


def test_a_table_of_an_older_version_gets_a_new_secret_to_sign_with(files: Path) -> None:
    public, secret = files / "keys" / "table.key", files / "keys" / "table.key_secret"
    (files / "keys" / "table.sign").unlink()
    old = SigningKey.generate()
    verify, sign = bytes(old.verify_key).hex(), bytes(old).hex()
    fresh = read_certificate(public).verify.hex()
    for path in (public, secret):
        path.write_text(path.read_text().replace(fresh, verify))
    secret.write_text(secret.read_text().replace("curve\n", f"    sign = {sign}\ncurve\n"))
    curve = read_certificate(secret)
    assert curve.sign == bytes(old)

    create_table_keys(files)

    assert read_sign_secret(files) != bytes(old)
    assert sign not in secret.read_text()
    assert read_certificate(secret).curve_secret == curve.curve_secret
    assert read_certificate(public).curve == curve.curve
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_lost_curve_secret_is_not_silently_another_table(files: Path) -> None:
    (files / "keys" / "table.key_secret").unlink()

    with pytest.raises(RosterError, match=r"table\.key_secret is missing"):
        create_table_keys(files)


def test_a_secret_of_another_table_is_not_signed_with(files: Path, tmp_path: Path) -> None:
    create_table_keys(tmp_path / "other")
    (files / "keys" / "table.sign").write_text((tmp_path / "other/keys/table.sign").read_text())

    with pytest.raises(RosterError, match=r"table\.sign: its verify is not that of"):
        read_sign_secret(files)


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
    assert {modes[path] for path in modes if path.suffix in (".key_secret", ".sign")} == {0o600}


def test_keys_that_are_there_stay(files: Path) -> None:
    (files / ADMITTED_FOLDER / "observer.key").unlink()
    before = contents(files)

    create_table_keys(files)

    assert contents(files) == before


@pytest.mark.parametrize("done", range(0, 21, 4))
def test_an_interrupted_call_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: int
) -> None:
    left = iter(range(done))

    def write_some(handle: int) -> None:
        if next(left, None) is None:
            raise OSError(28, "no space left")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", write_some)
        with pytest.raises(OSError, match="no space"):
            create_table_keys(tmp_path)
    before = contents(tmp_path)

    create_table_keys(tmp_path)

    assert before.items() <= contents(tmp_path).items()
    assert len(contents(tmp_path)) == 21
    assert len(Roster.load(tmp_path).clients) == len(FIRST_CLIENTS)


def test_nothing_is_ever_overwritten(files: Path) -> None:
    guest = create_client_keys(files / "elsewhere", "chief", Role.REFEREE)
    before = contents(files)

    with pytest.raises(RosterError, match="has the same name here"):
        admit_file(files, guest)

    assert contents(files) == before


def test_admitting_twice_is_admitting_once(files: Path) -> None:
    guest = create_client_keys(files, "guest", Role.OBSERVER)

    assert admit_file(files, guest) == admit_file(files, guest)


def test_neither_a_secret_nor_the_tables_own_key_is_admitted(files: Path) -> None:
    with pytest.raises(RosterError, match="public"):
        admit_file(files, files / "clients" / "chief.key_secret")
    with pytest.raises(RosterError, match="public"):
        admit_file(files, files / "keys" / "table.key")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

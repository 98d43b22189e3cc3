"""A roster that follows its folder while a table runs."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from controller.keys.enrolment import admit_file, renew_client, revoke_client
from controller.keys.table_keys import FIRST_CLIENTS, create_client_keys, create_table_keys
from controller.messages import Role
from controller.roster import (
    ADMITTED_FOLDER,
    REVOKED_FOLDER,
    Certificate,
    FolderRoster,
    NotAdmitted,
    RosterError,
    fingerprint,
    parse_moment,
    read_certificate,
)

NOON = "2027-03-01T12:00:00.000Z"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_table_keys(tmp_path)
    return tmp_path


class Clock:
    """A wall that shows what it is set to."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> str:
        return self.now


def roster(folder: Path) -> FolderRoster:
    return FolderRoster(folder, Clock())


def client(folder: Path, name: str) -> Certificate:
    return read_certificate(folder / "clients" / f"{name}.key")


def test_who_is_admitted_while_it_runs_is_in_and_who_is_removed_is_out(folder: Path) -> None:
    live = roster(folder)
    guest = create_client_keys(folder, "guest", Role.OBSERVER)
    assert live.admitted_client(read_certificate(guest).verify) is None

    place = admit_file(folder, guest)
    assert live.admitted_client(read_certificate(guest).verify) is not None

    place.unlink()
    assert live.look_up_signing_key(read_certificate(guest).verify) == NotAdmitted("UNKNOWN_KEY")


def test_who_is_revoked_is_out_at_once_and_told_when_and_why(folder: Path) -> None:
    live = roster(folder)
    chief = client(folder, "chief")
    assert live.admitted_client(chief.verify) is not None

    revoke_client(folder, "chief", "lost", parse_moment(NOON))

    said = NotAdmitted("KEY_REVOKED", "chief", "2027-03-01 12:00 UTC, lost")
    assert live.look_up_signing_key(chief.verify) == live.look_up_curve_key(chief.curve) == said


def test_a_key_once_seen_revoked_stays_so_whatever_becomes_of_its_file(folder: Path) -> None:
    live = roster(folder)
    text = (folder / ADMITTED_FOLDER / "chief.key").read_text()
    chief = client(folder, "chief")
    revoke_client(folder, "chief", "lost", parse_moment(NOON))
    assert live.admitted_client(chief.verify) is None

    for path in (folder / REVOKED_FOLDER).iterdir():
        path.unlink()
    (folder / ADMITTED_FOLDER / "chief.key").write_text(text)

    assert live.admitted_client(chief.verify) is None


def test_a_key_expires_while_nobody_touches_a_file(folder: Path) -> None:
    wall = Clock()
    guest = create_client_keys(folder, "guest", Role.OBSERVER)
    admit_file(folder, guest, parse_moment("2027-03-01"))
    live = FolderRoster(folder, wall)
    key = read_certificate(guest).curve
    assert isinstance(live.look_up_curve_key(key), Certificate)

    wall.now = "2027-03-02T00:00:00.000Z"

    assert isinstance(live.look_up_curve_key(key), NotAdmitted)


def test_a_file_that_says_nothing_useful_admits_nobody_and_costs_nobody_his_place(
    folder: Path,
) -> None:
    told: list[RosterError] = []

    def on_read(live: FolderRoster, wrong: Sequence[RosterError]) -> None:
        told.extend(wrong)

    live = FolderRoster(folder, Clock(), on_read)
    (folder / ADMITTED_FOLDER / "odd.key").write_text("odd")
    referee = client(folder, "referee")
    revoke_client(folder, "referee", "left", parse_moment(NOON))

    assert live.admitted_client(client(folder, "chief").verify) is not None
    assert live.admitted_client(referee.verify) is None
    assert any("odd.key" in str(error) for error in told)


def spoilt(text: str) -> str:
    return text.replace("    verify = ", "    verfy = ")


@pytest.mark.parametrize("name", ["chief.key", "chief-{mark}.key", "gone.key"])
def test_a_file_in_revoked_that_cannot_be_read_takes_away_whom_it_names_or_has_a_key_of(
    folder: Path, name: str
) -> None:
    told: list[RosterError] = []
    live = FolderRoster(folder, Clock(), lambda live, wrong: told.extend(wrong))
    chief, referee = client(folder, "chief"), client(folder, "referee")
    (folder / REVOKED_FOLDER).mkdir()
    place = folder / REVOKED_FOLDER / name.format(mark=fingerprint(chief))
    place.write_text(spoilt((folder / ADMITTED_FOLDER / "chief.key").read_text()))

    assert live.admitted_client(chief.verify) is None
    assert live.chief_seals() == ()
    assert live.admitted_client(referee.verify) is not None
    assert str(place) in str(told[0])
    place.unlink()
    assert live.admitted_client(chief.verify) is not None  # it was never revoked in so many words


@pytest.mark.parametrize("what", ["file", "dangling link", "folder"])
def test_while_nobody_knows_whom_revoked_takes_away_nobody_is_admitted(
    folder: Path, what: str
) -> None:
    told: list[RosterError] = []
    live = FolderRoster(folder, Clock(), lambda live, wrong: told.extend(wrong))
    chief, odd = client(folder, "chief"), folder / REVOKED_FOLDER / "odd.key"
    if what == "folder":
        (folder / REVOKED_FOLDER).write_text("not a folder")
    else:
        (folder / REVOKED_FOLDER).mkdir()
        odd.write_text("odd") if what == "file" else odd.symlink_to("nowhere")

    assert live.admitted_client(chief.verify) is None
    assert (live.clients, live.chief_seals()) == ((), ())
    assert "no client is admitted" in str(told[-1])
    with pytest.raises(RosterError):  # nor does it start so
        FolderRoster(folder, Clock())
    (odd if odd.is_symlink() or odd.exists() else folder / REVOKED_FOLDER).unlink()
    assert live.admitted_client(chief.verify) is not None
    assert len(live.clients) == len(FIRST_CLIENTS)


def test_a_file_that_is_changed_in_its_place_and_keeps_its_time_is_read_again(folder: Path) -> None:
    live = roster(folder)
    path, referee = folder / ADMITTED_FOLDER / "referee.key", client(folder, "referee")
    assert live.admitted_client(referee.verify) is not None
    before = path.stat()

    path.write_text(path.read_text().replace("role = referee", "role = tableee"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert live.admitted_client(referee.verify) is None


@pytest.mark.parametrize("kind", ["key", "name"])
def test_who_comes_with_a_key_or_name_of_somebody_else_does_not_come_in_his_place(
    folder: Path, kind: str
) -> None:
    live = roster(folder)
    table = client(folder, "table")
    if kind == "key":
        text = (folder / ADMITTED_FOLDER / "table.key").read_text()
        text = text.replace("role = table", "role = chief").replace("name = table", "name = boss")
    else:
        text = create_client_keys(folder / "elsewhere", "table", Role.CHIEF).read_text()
    (folder / ADMITTED_FOLDER / "boss.key").write_text(text)

    found = live.admitted_client(table.verify)

    assert found is not None
    assert found.role is Role.TABLE
    assert len(live.clients) == len(FIRST_CLIENTS)


def test_a_renewed_key_and_the_old_one_are_both_good_until_the_old_one_ends(folder: Path) -> None:
    wall = Clock()
    live = FolderRoster(folder, wall)
    old = client(folder, "referee")
    new = create_client_keys(folder / "elsewhere", "referee", Role.REFEREE)

    renew_client(folder, read_certificate(new), parse_moment("2027-03-01T13:00:00Z"))

    fresh = read_certificate(new)
    assert live.admitted_client(old.verify) is not None
    assert live.admitted_client(fresh.verify) is not None
    wall.now = "2027-03-01T13:00:00.000Z"
    assert live.admitted_client(old.verify) is None
    assert live.admitted_client(fresh.verify) is not None


def test_a_revoked_key_is_not_admitted_again(folder: Path) -> None:
    chief = folder / "clients" / "chief.key"
    revoke_client(folder, "chief", "lost", parse_moment(NOON))

    with pytest.raises(RosterError, match=r"was revoked on 2027-03-01 12:00 UTC \(lost\)"):
        admit_file(folder, chief)


def test_of_two_keys_of_a_name_one_can_be_revoked(folder: Path) -> None:
    live = roster(folder)
    old = client(folder, "referee")
    new = create_client_keys(folder / "elsewhere", "referee", Role.REFEREE)
    renew_client(folder, read_certificate(new), parse_moment("2027-03-02T13:00:00Z"))

    revoke_client(folder, "referee", "renewed", parse_moment(NOON), fingerprint(old))

    assert live.admitted_client(old.verify) is None
    assert live.admitted_client(read_certificate(new).verify) is not None

"""`dealtable keys`: enrolment with a fingerprint that people compare, renewal, revocation."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli.keys import command
from controller.keys.enrolment import enrol_client, read_client_file
from controller.keys.table_keys import (
    FIRST_CLIENTS,
    create_client_keys,
    create_table_keys,
    write_key_request,
)
from controller.messages import Role
from controller.roster import (
    ADMITTED_FOLDER,
    Roster,
    fingerprint,
    parse_moment,
    read_certificate,
    read_sign_secret,
)


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    create_table_keys(folder)
    return folder


def run(*args: object, said: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(
        command, [str(arg) for arg in args], input=said, env={"COLUMNS": "120"}
    )
    return result.exit_code, result.output


def line_of(state_dir: Path, name: str) -> list[str]:
    """The lines of `keys list` about a name."""
    _, listed = run("list", state_dir)
    return [line for line in listed.splitlines() if line.split()[0] == name]


def asked(tmp_path: Path, name: str = "anna", role: str = "referee", *more: object) -> Path:
    """The public file of a pair that was made on another computer."""
    code, said = run("request", name, "--role", role, "--out", tmp_path / "laptop", *more)
    assert code == 0, said
    return tmp_path / "laptop" / f"{name}.key"


def test_keys_are_made_once_and_listed_with_their_fingerprints(tmp_path: Path) -> None:
    code, listed = run("create", tmp_path)
    assert code == 0
    *clients, own = listed.splitlines()
    assert [line.split()[0] for line in clients] == sorted(name for name, _ in FIRST_CLIENTS)
    for line in clients:
        name, _, mark, *how = line.split()
        assert mark == fingerprint(read_certificate(tmp_path / ADMITTED_FOLDER / f"{name}.key"))
        assert how == ["no", "end"]
    assert fingerprint(read_certificate(tmp_path / "keys" / "table.key")) in own
    assert run("create", tmp_path) == (0, listed)
    assert run("list", tmp_path) == (0, listed)


def test_a_client_is_made_admitted_and_listed(state_dir: Path) -> None:
    code, said = run("client", state_dir, "console-2", "--role", "referee")
    assert code == 0
    assert "console-2.key_secret" in said
    assert line_of(state_dir, "console-2")


def test_a_client_of_that_name_and_another_role_is_refused(state_dir: Path) -> None:
    code, said = run("client", state_dir, "referee", "--role", "chief")
    assert (code, said.count("\n")) == (2, 1)
    assert "exists already, as referee" in said


# Enrolment.


def test_a_pair_is_made_where_it_is_used_and_its_fingerprint_shown(tmp_path: Path) -> None:
    code, said = run("request", "anna", "--role", "chief", "--out", tmp_path)
    public, secret = tmp_path / "anna.key", tmp_path / "anna.key_secret"
    assert code == 0
    assert fingerprint(read_certificate(public)) in said
    assert secret.stat().st_mode & 0o777 == 0o600
    assert read_certificate(secret).unseal
    assert not read_certificate(public).has_secrets


def test_a_pair_that_is_there_is_not_made_again_and_its_file_is_named(tmp_path: Path) -> None:
    public = asked(tmp_path)
    before = public.read_bytes()
    code, said = run("request", "anna", "--role", "referee", "--out", tmp_path / "laptop")
    assert (code, said.count("\n")) == (2, 1)
    assert f"{public}_secret: is there already" in said
    assert public.read_bytes() == before


@pytest.mark.parametrize("name", ["../anna", "a b", ""])
def test_a_name_that_is_none_makes_no_file(tmp_path: Path, name: str) -> None:
    code, said = run("request", name, "--role", "referee", "--out", tmp_path / "laptop")
    assert (code, said.count("\n")) == (2, 1)
    assert not (tmp_path / "laptop").exists()


def test_who_says_the_last_group_as_its_owner_read_it_out_admits_it(
    tmp_path: Path, state_dir: Path
) -> None:
    public = asked(tmp_path)
    mark = fingerprint(read_certificate(public))
    code, said = run("admit", state_dir, public, said=f"{mark[-4:]}\n")
    assert code == 0
    assert "anna" in said
    assert "referee" in said
    assert mark[:-4] + "????" in said  # who does not ask its owner cannot know it
    assert mark in line_of(state_dir, "anna")[0]


@pytest.mark.parametrize("answer", ["0000\n", "\n\n0\n", "", "???? \n"])
def test_who_says_another_group_or_nothing_admits_nobody(
    tmp_path: Path, state_dir: Path, answer: str
) -> None:
    code, said = run("admit", state_dir, asked(tmp_path), said=answer)
    assert code in (1, 2)
    assert "nothing is admitted" in said
    assert not line_of(state_dir, "anna")


def test_a_script_says_the_whole_fingerprint(tmp_path: Path, state_dir: Path) -> None:
    public = asked(tmp_path)
    mark = fingerprint(read_certificate(public))
    swapped = asked(tmp_path / "on-the-way")

    assert run("admit", state_dir, swapped, "--fingerprint", mark)[0] == 1
    assert run("admit", state_dir, public, "--fingerprint", mark[-4:])[0] == 1
    assert not line_of(state_dir, "anna")
    assert run("admit", state_dir, public, "--fingerprint", mark.upper())[0] == 0
    assert line_of(state_dir, "anna")


def test_no_secret_is_admitted_by_mistake(tmp_path: Path, state_dir: Path) -> None:
    public = asked(tmp_path)
    mark = fingerprint(read_certificate(public))
    secret = public.with_suffix(".key_secret")
    assert run("admit", state_dir, secret, "--fingerprint", mark)[0] == 2


def test_nobody_is_admitted_under_a_name_that_somebody_has(tmp_path: Path, state_dir: Path) -> None:
    public = asked(tmp_path, "referee", "chief", "--expires", "2099-01-01")
    mark = fingerprint(read_certificate(public))
    code, said = run("admit", state_dir, public, "--fingerprint", mark)
    assert (code, said.count("\n")) == (2, 1)
    assert "has the same name" in said


def test_a_fingerprint_is_shown_of_a_table_too(state_dir: Path) -> None:
    code, said = run("fingerprint", state_dir / "keys" / "table.key")
    assert code == 0
    assert re.search("[0-9a-f]{4}(-[0-9a-f]{4}){3}", said)


def test_an_end_is_listed_as_the_last_day(tmp_path: Path, state_dir: Path) -> None:
    public = asked(tmp_path)
    mark = fingerprint(read_certificate(public))
    words = ("admit", state_dir, public, "--fingerprint", mark)
    assert run(*words, "--expires", "2099-12-31")[0] == 0
    assert line_of(state_dir, "anna")[0].endswith("until 2099-12-31")
    enrol_client(state_dir, read_client_file(public), parse_moment("2001-01-01"))
    assert line_of(state_dir, "anna")[0].endswith("EXPIRED 2001-01-01")
    assert run(*words, "--expires", "some day")[0] == 2


@pytest.mark.parametrize("end", ["2020-01-01", "0001-01-01", "0001-01-01T00:00:00Z"])
@pytest.mark.parametrize(
    "words",
    [
        ("client", "{state}", "zed", "--role", "chief"),
        ("request", "zed", "--role", "chief", "--out", "{state}"),
        ("admit", "{state}", "{anna}", "--fingerprint", "{mark}"),
    ],
    ids=lambda words: words[0],
)
def test_an_end_that_is_over_is_refused(
    tmp_path: Path, state_dir: Path, words: tuple[str, ...], end: str
) -> None:
    public = asked(tmp_path)
    named = {"state": state_dir, "anna": public, "mark": fingerprint(read_certificate(public))}
    before = sorted(state_dir.rglob("*"))
    code, said = run(*(word.format(**named) for word in words), "--expires", end)
    assert code == 2
    assert f"{end} is over" in said
    assert sorted(state_dir.rglob("*")) == before


@pytest.mark.parametrize("end", ["2020-01-01", "0001-01-01T00:00:00Z", "0001-01-02"])
def test_a_file_whose_end_is_over_is_shown_and_not_admitted(
    tmp_path: Path, state_dir: Path, end: str
) -> None:
    public = ended(tmp_path, end)
    mark = fingerprint(read_certificate(public))
    code, said = run("fingerprint", public)
    assert code == 0
    assert f"until:       {end}" in said
    for words in (("admit", state_dir, public), ("rotate", state_dir, "anna", public)):
        code, said = run(*words, "--fingerprint", mark)
        assert (code, said.count("\n")) == (2, 1)
        assert f"this key was good until {end}" in said
    (state_dir / ADMITTED_FOLDER / "anna.key").write_text(public.read_text())
    assert line_of(state_dir, "anna")[0].endswith(f"EXPIRED {end}")


def ended(tmp_path: Path, end: str) -> Path:
    """The public file of a pair whose owner has let its end pass."""
    return write_key_request(tmp_path / "laptop", "anna", Role.REFEREE, parse_moment(end))


# What the messenger may not change.


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("role = observer", "role = chief"),
        ("name = anna", "name = deputy"),
        ("    expires = 2099-01-31\n", ""),
        ("expires = 2099-01-31", "expires = 2099-02-28"),
        ("    proof = ", "    prove = "),
        ("    proof = ", "    proof = 00"),
    ],
)
@pytest.mark.parametrize("asks", [False, True], ids=["script", "person"])
def test_who_carries_a_file_changes_nothing_in_it_under_its_fingerprint(
    tmp_path: Path, state_dir: Path, old: str, new: str, asks: bool
) -> None:
    public = asked(tmp_path, "anna", "observer", "--expires", "2099-01-31")
    mark, text = fingerprint(read_certificate(public)), public.read_text()
    assert text.count(old) == 1
    public.write_text(text.replace(old, new))
    words = ("admit", state_dir, public)

    code, said = run(*words, said=f"{mark}\n") if asks else run(*words, "--fingerprint", mark)

    assert (code, said.count("\n")) == (2, 1)
    assert str(public) in said
    assert not line_of(state_dir, "anna")
    assert not line_of(state_dir, "deputy")
    public.write_text(text)
    assert run(*words, "--fingerprint", mark)[0] == 0


def test_a_seal_of_somebody_elses_changes_the_fingerprint_and_breaks_the_proof(
    tmp_path: Path, state_dir: Path
) -> None:
    public, other = asked(tmp_path, "anna", "chief"), asked(tmp_path, "eve", "chief")
    seals = [read_certificate(path).seal for path in (public, other)]
    mark = fingerprint(read_certificate(public))
    assert seals[0] is not None
    assert seals[1] is not None
    public.write_text(public.read_text().replace(seals[0].hex(), seals[1].hex()))
    assert fingerprint(read_certificate(public)) != mark
    assert run("admit", state_dir, public, "--fingerprint", mark)[0] == 2


def test_what_a_table_says_of_a_client_is_its_own_and_the_client_stays_the_same(
    tmp_path: Path, state_dir: Path
) -> None:
    public = asked(tmp_path, "anna", "referee", "--expires", "2099-01-31")
    mark = fingerprint(read_certificate(public))
    words = ("admit", state_dir, public, "--fingerprint", mark)
    for end in ("2098-12-31", "2097-12-31"):
        assert run(*words, "--expires", end)[0] == 0
        (line,) = line_of(state_dir, "anna")
        assert line.split()[2:] == [mark, "until", end]
    assert read_certificate(state_dir / ADMITTED_FOLDER / "anna.key").proof is None


# Where no table is.


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("client", "x", "--role", "referee"),
        ("revoke", "x", "--reason", "y"),
        ("rotate",),
    ],
    ids=lambda words: words[0],
)
def test_a_folder_that_is_no_tables_is_told_and_gets_nothing(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    code, said = run(words[0], tmp_path, *words[1:])
    assert (code, said.count("\n")) == (2, 1)
    assert f"{tmp_path}: no table's keys are here" in said
    assert list(tmp_path.iterdir()) == []


def test_of_a_table_whose_gateway_has_a_folder_the_configuration_is_asked_for(
    tmp_path: Path,
) -> None:
    create_table_keys(tmp_path / "state", tmp_path / "gateway")
    code, said = run("list", tmp_path / "state")
    assert (code, said.count("\n")) == (2, 1)
    assert "its clients are elsewhere: name its table.toml" in said


# Help.


def test_every_line_of_help_is_whole_and_every_command_has_examples() -> None:
    _, said = run("--help")
    listed = said.partition("Commands:\n")[2]
    assert "..." not in listed
    assert len(listed.splitlines()) == len(command.commands)
    for name in command.commands:
        _, said = run(name, "--help")
        assert f"Examples:\n    dealtable keys {name}" in said


# Renewal.


def test_a_new_key_is_good_beside_the_old_one_for_a_day(state_dir: Path) -> None:
    old = read_certificate(state_dir / "clients" / "referee.key")
    code, said = run("rotate", state_dir, "referee")
    assert code == 0
    new = read_certificate(state_dir / "clients" / "referee.key")
    assert new.curve != old.curve
    assert fingerprint(new) in said
    before, after = line_of(state_dir, "referee")
    assert {fingerprint(old), fingerprint(new)} == {before.split()[2], after.split()[2]}
    assert sorted(["ENDS SOON" in before, "ENDS SOON" in after]) == [False, True]
    aside = state_dir / "clients" / "old" / f"referee-{fingerprint(old)}.key_secret"
    assert read_certificate(aside).sign


def test_an_old_key_that_ends_at_once_is_revoked(state_dir: Path) -> None:
    old = read_certificate(state_dir / "clients" / "referee.key")
    assert run("rotate", state_dir, "referee", "--at-once")[0] == 0
    new, gone = line_of(state_dir, "referee")
    assert fingerprint(old) in gone
    assert "REVOKED" in gone
    assert new.endswith("no end")
    assert Roster.load(state_dir).admitted_client(old.verify) is None


def test_a_new_key_from_elsewhere_is_compared_like_the_first(
    tmp_path: Path, state_dir: Path
) -> None:
    first = asked(tmp_path)
    run("admit", state_dir, first, "--fingerprint", fingerprint(read_certificate(first)))
    second = asked(tmp_path / "new")
    mark = fingerprint(read_certificate(second))

    assert run("rotate", state_dir, "anna")[0] == 2  # its pair was not made here
    assert run("rotate", state_dir, "anna", second, said="0000\n")[0] == 1
    assert len(line_of(state_dir, "anna")) == 1
    assert run("rotate", state_dir, "anna", second, said=f"{mark[-4:]}\n")[0] == 0
    assert len(line_of(state_dir, "anna")) == 2


@pytest.mark.parametrize(
    "words", [(), ("nobody",), ("referee", "--own"), ("referee", "--at-once", "--grace", "3")]
)
def test_a_renewal_that_says_not_whose_is_refused(state_dir: Path, words: tuple[str, ...]) -> None:
    assert run("rotate", state_dir, *words)[0] == 2


# The table's own.


def test_a_table_without_a_journal_gets_new_keys_of_its_own(state_dir: Path) -> None:
    own = state_dir / "keys" / "table.key"
    old, sign = read_certificate(own), read_sign_secret(state_dir)
    clients = {path.name: path.read_bytes() for path in (state_dir / ADMITTED_FOLDER).iterdir()}

    code, said = run("rotate", state_dir, "--own")

    new = read_certificate(own)
    assert code == 0
    assert fingerprint(old) in said
    assert fingerprint(new) in said
    assert new.curve != old.curve
    assert read_sign_secret(state_dir) != sign
    kept = read_certificate(state_dir / "keys" / "old" / f"table-{fingerprint(old)}.key")
    assert (kept.verify, kept.has_secrets) == (old.verify, False)
    assert clients == {
        path.name: path.read_bytes() for path in (state_dir / ADMITTED_FOLDER).iterdir()
    }


def test_a_tables_own_key_stays_while_a_journal_stands_on_it(state_dir: Path) -> None:
    own = (state_dir / "keys" / "table.key").read_text()
    (state_dir / "journal.db").write_bytes(b"")
    code, said = run("rotate", state_dir, "--own")
    assert (code, said.count("\n")) == (2, 1)
    assert "part of every commitment" in said
    assert (state_dir / "keys" / "table.key").read_text() == own


# Revocation.


def test_a_revoked_key_is_listed_with_its_reason_and_never_admitted_again(state_dir: Path) -> None:
    public = state_dir / "clients" / "referee.key"
    text, mark = public.read_text(), fingerprint(read_certificate(public))
    code, said = run("revoke", state_dir, "referee", "--reason", 'lost "it" # 1\nyesterday')
    assert code == 0
    assert mark in said
    (line,) = line_of(state_dir, "referee")
    assert "REVOKED" in line
    assert "lost 'it' # 1" in line
    assert line.endswith("yesterday")  # however narrow the terminal is
    public.write_text(text)
    code, said = run("admit", state_dir, public, "--fingerprint", mark)
    assert (code, said.count("\n")) == (2, 1)
    assert "was revoked on" in said


def test_after_a_revocation_the_name_is_free_for_a_new_pair(state_dir: Path) -> None:
    run("revoke", state_dir, "referee", "--reason", "lost")
    assert run("client", state_dir, "referee", "--role", "referee")[0] == 0
    assert len(line_of(state_dir, "referee")) == 2


def test_who_is_not_there_cannot_be_revoked(state_dir: Path) -> None:
    code, said = run("revoke", state_dir, "nobody", "--reason", "x")
    assert (code, said.count("\n")) == (2, 1)


def test_the_last_chiefs_revocation_says_what_follows(state_dir: Path) -> None:
    assert "no chief is left" in run("revoke", state_dir, "chief", "--reason", "x")[1]


def test_a_revoked_pair_that_was_made_here_is_set_aside_and_still_opens(state_dir: Path) -> None:
    chief = read_certificate(state_dir / "clients" / "chief.key_secret")
    run("revoke", state_dir, "chief", "--reason", "x")
    aside = state_dir / "clients" / "old" / f"chief-{fingerprint(chief)}.key_secret"
    assert read_certificate(aside).unseal == chief.unseal


def test_a_table_without_keys_says_what_to_do(tmp_path: Path) -> None:
    code, said = run("list", tmp_path)
    assert (code, said.count("\n")) == (2, 1)
    assert "dealtable keys create" in said


def test_the_file_of_another_client_cannot_take_its_name(state_dir: Path) -> None:
    other = create_client_keys(state_dir / "elsewhere", "referee", Role.REFEREE)
    mark = fingerprint(read_certificate(other))
    assert run("admit", state_dir, other, "--fingerprint", mark)[0] == 2

"""`dealtable release` as people call it."""

import compileall
import marshal
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType

import pytest
from click.testing import CliRunner, Result

from controller.cli import main
from controller.release.installed_program import (
    MANIFEST,
    PACKAGES,
    REMEMBERED_FILE,
    find_program_folder,
    hash_program_files,
)
from controller.signing.releases import program_hash

Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call `dealtable release` in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> Result:
        return CliRunner().invoke(main, ["release", *map(str, words)])

    return call


@pytest.fixture
def make(call: Call, program: Path) -> Callable[[int], None]:
    """Release the program under a serial, signed with the key `release`."""
    call("key", "release")

    def make(serial: int = 7) -> None:
        (program / MANIFEST).unlink(missing_ok=True)
        words = ("--version", "0.1.0", "--serial", serial, "--released", "2027-03-01")
        assert call("make", program, *words).exit_code == 0
        signed = call("sign", program / MANIFEST, "--key", "release.key_secret")
        assert signed.exit_code == 0, signed.output

    return make


def checked(call: Call, program: Path, *words: object) -> tuple[int, list[str]]:
    """Check the program; return the exit status and the lines."""
    done = call("check", "--key", "release.key", "--files", program, *words)
    return done.exit_code, done.output.splitlines()


def test_a_program_as_it_was_released_is_said_to_be_so(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make()

    assert checked(call, program) == (
        0,
        ["release 0.1.0 (serial 7, 2027-03-01): 7 files, all as released"],
    )


def test_each_file_that_is_not_as_released_is_a_line(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make()
    (program / "controller/cards.py").write_text("CARDS = 107\n")
    (program / "controller/rules/profiles/one.toml").unlink()
    (program / "drivers/extra.so").write_bytes(b"")

    assert checked(call, program) == (
        1,
        [
            "controller/cards.py: changed",
            "controller/rules/profiles/one.toml: missing",
            "drivers/extra.so: not of this release",
        ],
    )


def test_firmware_that_was_changed_is_said_of_its_files_and_of_the_boards(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make()
    (program / "drivers/firmware/main.py").write_text("print(2)\n")

    status, lines = checked(call, program)

    assert status == 1
    assert lines[0] == "drivers/firmware/main.py: changed"
    assert "boards" in lines[1]


def test_code_that_was_compiled_from_something_else_is_found(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make()
    compileall.compile_dir(program, quiet=2)
    compileall.compile_dir(program, quiet=2, optimize=1)
    assert checked(call, program)[0] == 0
    source = program / "controller/cards.py"
    compiled = Path(cache_from_source(str(source)))

    evil = marshal.dumps(compile("CARDS = 107\n", str(source), "exec"))
    compiled.write_bytes(compiled.read_bytes()[:16] + evil)

    name = compiled.relative_to(program)
    assert checked(call, program) == (1, [f"{name}: not of this release"])
    compiled.write_bytes(compiled.read_bytes()[:16])  # cut off: nobody knows what it says
    assert checked(call, program)[0] == 1
    source.write_text("CARDS = (\n")  # no source compiles to anything now
    assert checked(call, program)[1][0] == "controller/cards.py: changed"


def test_compiled_code_that_python_runs_unread_is_looked_at_whatever_its_source_is(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make()
    source, evil = program / "controller/cards.py", program.parent / "evil.py"
    evil.write_text("CARDS = 107\n")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compiled = cache_from_source(str(source))
    py_compile.compile(str(evil), cfile=compiled, invalidation_mode=mode)
    ran = subprocess.run(
        [sys.executable, "-c", "import controller.cards as c; print(c.CARDS)"],
        cwd=program,
        env={**os.environ, "PYTHONPATH": str(program)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "107\n"

    assert checked(call, program)[0] == 1


def test_compiled_code_older_than_its_source_is_never_run_and_no_finding(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    source = program / "controller/cards.py"
    source.write_text("CARDS = 107\n")
    py_compile.compile(str(source))
    source.write_text("CARDS = 108\n# as released\n")
    make()

    assert checked(call, program)[0] == 0


def test_a_manifest_signed_by_somebody_else_or_changed_is_refused(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make()
    call("key", "other")
    strange = call("check", "--key", "other.key", "--files", program)
    assert (strange.exit_code, strange.output) == (
        1,
        f"{program / MANIFEST}: its signature does not fit that key\n",
    )

    path = program / MANIFEST
    path.write_bytes(path.read_bytes().replace(b'"serial": 7', b'"serial": 8'))
    assert checked(call, program)[0] == 1


def test_an_older_release_than_one_accepted_before_is_refused(
    call: Call, make: Callable[..., None], program: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    make(9)
    assert checked(call, program, "--state-dir", state)[0] == 0
    make(8)

    status, lines = checked(call, program, "--state-dir", state)

    assert status == 1
    assert "is older than 0.1.0 (serial 9)" in lines[0]
    assert checked(call, program)[0] == 0  # nobody remembers there
    make(10)
    assert checked(call, program, "--state-dir", state)[0] == 0


def test_what_is_not_as_released_is_not_remembered(
    call: Call, make: Callable[..., None], program: Path, tmp_path: Path
) -> None:
    make(9)
    (program / "controller/cards.py").write_text("")

    assert checked(call, program, "--state-dir", tmp_path)[0] == 1
    assert not (tmp_path / REMEMBERED_FILE).exists()


def test_a_manifest_from_elsewhere_is_compared_as_well(
    call: Call, make: Callable[..., None], program: Path, tmp_path: Path
) -> None:
    make()
    for name in (MANIFEST, f"{MANIFEST}.sig"):
        (program / name).rename(tmp_path / Path(name).name)

    assert checked(call, program, "manifest.json")[0] == 0
    assert checked(call, program)[0] == 2


def test_keys_are_made_once_and_the_secret_is_its_owners(call: Call, tmp_path: Path) -> None:
    assert call("key", "release").exit_code == 0
    secret, public = tmp_path / "release.key_secret", tmp_path / "release.key"
    assert secret.stat().st_mode & 0o777 == 0o600
    before = secret.read_text(), public.read_text()

    again = call("key", "release")

    assert again.exit_code == 2
    assert (secret.read_text(), public.read_text()) == before
    assert secret.read_text().split()[-1] not in public.read_text()


def test_no_secret_is_laid_into_a_repository(call: Call, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep").mkdir()

    refused = call("key", "deep/release")

    assert refused.exit_code == 2
    assert "repository" in refused.output
    assert os.listdir(tmp_path / "deep") == []


def linked_folder(program: Path, elsewhere: Path) -> str:
    """A package that shadows a module: its code runs."""
    (elsewhere / "__init__.py").write_text("CARDS = 107\n")
    (program / "controller/cards").symlink_to(elsewhere)
    return "controller/cards: not of this release: a link"


def linked_file(program: Path, elsewhere: Path) -> str:
    """A link in place of a file, with its very bytes, as long as somebody likes."""
    source = program / "controller/cards.py"
    source.rename(elsewhere / "cards.py")
    source.symlink_to(elsewhere / "cards.py")
    return "controller/cards.py: changed: a link"


def linked_package(program: Path, elsewhere: Path) -> str:
    """The whole package is elsewhere, as it was released."""
    (program / "controller").rename(elsewhere / "controller")
    (program / "controller").symlink_to(elsewhere / "controller")
    return "controller: not of this release: a link"


def linked_cache(program: Path, elsewhere: Path) -> str:
    """Compiled code that Python takes from elsewhere."""
    (program / "controller/__pycache__").symlink_to(elsewhere)
    return "controller/__pycache__: not of this release: a link"


def linked_compiled(program: Path, elsewhere: Path) -> str:
    """One compiled file that lies elsewhere, and may be exchanged there."""
    compiled = Path(py_compile.compile(str(program / "controller/cards.py")) or "")
    compiled.rename(elsewhere / "cards.pyc")
    compiled.symlink_to(elsewhere / "cards.pyc")
    return f"{compiled.relative_to(program)}: not of this release: a link"


def dangling(program: Path, elsewhere: Path) -> str:
    """A link to nothing, yet."""
    (program / "controller/later.py").symlink_to(elsewhere / "later.py")
    return "controller/later.py: not of this release: a link"


def pipe(program: Path, elsewhere: Path) -> str:
    """A pipe, which hands out what somebody writes; nobody waits for that."""
    os.mkfifo(program / "drivers/firmware/evil.py")
    return "drivers/firmware/evil.py: not of this release: neither a file nor a folder"


def source_in_the_cache(program: Path, elsewhere: Path) -> str:
    """A module among compiled files."""
    cache = program / "controller/__pycache__/deep"
    cache.mkdir(parents=True)
    (cache / "evil.py").write_text("")
    return (
        "controller/__pycache__/deep/evil.py: not of this release: "
        "in a cache, and nothing that this Python compiles"
    )


def optimized_otherwise(program: Path, elsewhere: Path) -> str:
    """What Python runs under -OOO."""
    source = program / "controller/cards.py"
    cache = program / "controller/__pycache__"
    cache.mkdir()
    name = f"cards.{sys.implementation.cache_tag}.opt-3.pyc"
    py_compile.compile(str(source), cfile=str(cache / name))
    return (
        f"controller/__pycache__/{name}: not of this release: "
        "in a cache, and nothing that this Python compiles"
    )


ODD_THINGS = [
    linked_folder,
    linked_file,
    linked_package,
    linked_cache,
    linked_compiled,
    dangling,
    pipe,
    source_in_the_cache,
    optimized_otherwise,
]


@pytest.mark.parametrize("odd", ODD_THINGS)
def test_what_is_no_plain_file_is_a_finding_enters_the_hash_and_is_never_released(
    odd: Callable[[Path, Path], str],
    call: Call,
    make: Callable[..., None],
    program: Path,
    tmp_path: Path,
) -> None:
    make()
    elsewhere, before = tmp_path / "elsewhere", program_hash(hash_program_files(program))
    elsewhere.mkdir()

    line = odd(program, elsewhere)

    # The manifest is named: where the whole package is elsewhere, it is, too.
    for name in (MANIFEST, f"{MANIFEST}.sig"):
        shutil.copy(program / name, tmp_path)
    status, lines = checked(call, program, tmp_path / Path(MANIFEST).name)
    assert status == 1
    assert line in lines
    assert program_hash(hash_program_files(program)) != before
    words = ("--version", "0.2.0", "--serial", 8, "--released", "2027-04-01")
    refused = call("make", program, *words)
    assert refused.exit_code == 2
    assert "a release has none" in refused.output


def test_a_link_never_hashes_to_what_a_file_could_hold(program: Path, tmp_path: Path) -> None:
    link = program / "controller/link.py"
    seen = set()
    for target in ("a", "b", "nowhere/a"):
        link.symlink_to(target)
        seen.add(hash_program_files(program)["controller/link.py"])
        link.unlink()

    (program / "controller/link.py").write_bytes(b"a")
    assert len(seen | {hash_program_files(program)["controller/link.py"]}) == 4


def test_compiled_code_that_claims_less_room_than_it_needs_is_found(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    source = program / "controller/cards.py"
    source.write_text("def f(a):\n    return [a, a, a, [a, a, a]]\n")
    make()
    compiled = Path(py_compile.compile(str(source)) or "")
    assert checked(call, program)[0] == 0
    raw = compiled.read_bytes()
    code = marshal.loads(raw[16:])
    consts = [
        one.replace(co_stacksize=1) if isinstance(one, CodeType) else one for one in code.co_consts
    ]
    compiled.write_bytes(raw[:16] + marshal.dumps(code.replace(co_consts=tuple(consts))))

    assert checked(call, program)[0] == 1


def test_a_new_release_takes_a_higher_serial_than_the_one_that_lies_there(
    call: Call, make: Callable[..., None], program: Path
) -> None:
    make(7)
    before = (program / MANIFEST).read_bytes()

    for serial in (6, 7):
        words = ("--version", "0.2.0", "--serial", serial, "--released", "2027-04-01")
        refused = call("make", program, *words)
        assert refused.exit_code == 2
        assert "release 0.1.0 (serial 7, 2027-03-01) already: --serial 8" in refused.output
        assert (program / MANIFEST).read_bytes() == before

    words = ("--version", "0.2.0", "--serial", 8, "--released", "2027-04-01")
    assert call("make", program, *words).exit_code == 0


WRONG: list[tuple[tuple[object, ...], str]] = [
    (
        ("check", "--key", "none.key"),
        "none.key: cannot be read: No such file or directory; `dealtable release key NAME` makes",
    ),
    (("check", "--key", "release.key_secret", "--files", "program"), "name the public"),
    (("sign", "program/controller/manifest.json", "--key", "release.key"), "name the secret"),
    (("sign", "release.key", "--key", "release.key_secret"), "no manifest of a release"),
    (("make", "nowhere", "--version", "1", "--serial", "1", "--released", "2027-03-01"), "nowhere"),
    (("make", "program", "--version", "1", "--serial", "0", "--released", "2027-03-01"), "serial"),
    (("make", "program", "--version", "1", "--serial", "1", "--released", "today"), "released"),
]


@pytest.mark.parametrize(("words", "complaint"), WRONG)
def test_what_cannot_be_done_is_told_in_one_line(
    words: tuple[object, ...], complaint: str, call: Call, make: Callable[..., None]
) -> None:
    make()

    done = call(*words)

    assert done.exit_code == 2
    assert complaint in done.output.splitlines()[-1]


def test_a_wheel_carries_its_manifest_and_is_what_was_released(call: Call, tmp_path: Path) -> None:
    here, checkout, installed = find_program_folder(), tmp_path / "checkout", tmp_path / "installed"
    ignored = shutil.ignore_patterns("__pycache__", "manifest.json*")
    for package in PACKAGES:
        shutil.copytree(here / package, checkout / package, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(here / name, checkout / name)
    call("key", "release")
    call("make", checkout, "--version", "0.1.0", "--serial", 1, "--released", "2027-03-01")
    call("sign", checkout / MANIFEST, "--key", "release.key_secret")

    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=checkout, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(installed)

    status, lines = checked(call, installed)
    assert (status, len(lines)) == (0, 1), lines

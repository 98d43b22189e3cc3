"""`dealtable release`: signed manifests, and their comparison with the installed program."""

from datetime import datetime
from pathlib import Path
from typing import Final

import click

from controller.cli.options import FILE, FOLDER, WholeNumber
from controller.host.printable_text import escape_unprintable
from controller.host.toml_files import FileError
from controller.release.installed_program import (
    FIRMWARE_FOLDER,
    MANIFEST,
    find_differences,
    find_odd_files,
    find_program_folder,
    hash_program_files,
    read_program_firmware,
    read_remembered_release,
    remember_release,
)
from controller.release.release_files import (
    FOLDER_MANIFEST,
    decode_manifest,
    hash_folder_files,
    make_release_keys,
    read_file,
    read_manifest,
    read_release_key,
    read_signed_manifest,
    signature_path,
    write_file,
)
from controller.signing import releases as release
from controller.signing.releases import BadRelease, Manifest, file_differences

INSTALLED: Final = "installed"
EPILOG: Final = """\b
Examples:
  dealtable release key ~/keys/release
  dealtable release make . --version 0.1.0 --serial 7 --released 2027-03-01
  dealtable release sign controller/manifest.json --key ~/keys/release.key_secret
  dealtable release check --key release.key --state-dir /var/lib/dealtable/T01
"""


@click.group("release", epilog=EPILOG)
def command() -> None:
    """Make, sign and check the manifest of a release.

    A manifest lists every file of the program and the boards' firmware with its hash. It is beside
    the code, in controller/manifest.json, with its signature. Consoles have a copy, and compare it
    with the reports of tables.
    """


@command.command()
@click.argument("name", type=FILE)
def key(name: Path) -> None:
    """Create the key pair that signs releases.

    NAME.key is public. Keep NAME.key_secret secret, off every table and out of every repository.
    """
    public, secret = make_release_keys(name)
    click.echo(f"{public}: give it to everybody who checks releases")
    click.echo(f"{secret}: the secret; keep it off every table and out of every repository")


@command.command()
@click.argument("folder", metavar="DIR|installed")
@click.option("--version", required=True, help="Such as 0.1.0.")
@click.option("--serial", type=WholeNumber(1, 2**53), required=True, help="Higher than any before.")
@click.option(
    "--released",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    metavar="DATE",
    help="The UTC date of the release: YYYY-MM-DD.",
)
@click.option("--out", type=FILE, help=f"Where to write it.  [default: DIR/{MANIFEST}]")
@click.option("--whole", is_flag=True, help="Of a folder of files, such as a wheelhouse.")
def make(
    folder: str, version: str, serial: int, released: datetime, out: Path | None, whole: bool
) -> None:
    """Write the manifest of a program: its files and firmware with their hashes.

    DIR is a checkout or an unpacked wheel; `installed` is this program. If there is a manifest
    already, the new serial must be higher. Exit 2 for a program that contains a link. With --whole
    the manifest lists every file in DIR, and is written to DIR/manifest.json.
    """
    place = _choose_program_folder(folder)
    path = out or place / (FOLDER_MANIFEST if whole else MANIFEST)
    if not whole:
        for name, what in find_odd_files(place).items():
            raise FileError(
                f"{place / escape_unprintable(name)}: {what}: a release has none, remove it"
            )
    if path.exists() and serial <= (there := read_manifest(path)).serial:
        raise FileError(
            f"{path}: is {_format_release(there)} already: --serial {there.serial + 1} or "
            "higher follows it; to make it again, remove it first"
        )
    made = Manifest(
        version=version,
        released=released.date().isoformat(),
        serial=serial,
        files=hash_folder_files(place) if whole else hash_program_files(place),
        firmware={} if whole else read_program_firmware(place),
    )
    write_file(path, release.encode_manifest(made))
    click.echo(
        f"{path}: {_format_release(made)}, {len(made.files)} files, hash {made.release.hash}"
    )


@command.command()
@click.argument("manifest", type=FILE)
@click.option("--key", "key_file", type=FILE, required=True, help="The release's .key_secret.")
def sign(manifest: Path, key_file: Path) -> None:
    """Sign a manifest with the secret key of releases.

    The signature is written beside the manifest, into a file of the same name with .sig added.
    """
    raw, secret = read_file(manifest), read_release_key(key_file, secret=True)
    made, path = decode_manifest(raw, manifest), signature_path(manifest)
    write_file(path, f"{release.sign_manifest(raw, secret)}\n".encode())
    click.echo(f"{path}: {_format_release(made)} is signed")


@command.command()
@click.argument("manifest", type=FILE, required=False)
@click.option("--key", "key_file", type=FILE, required=True, help="The release's public .key.")
@click.option(
    "--files",
    "folder",
    default=INSTALLED,
    show_default=True,
    metavar="DIR|installed",
    help="Which program to compare with it.",
)
@click.option(
    "--state-dir",
    type=FOLDER,
    help="A table's: it knows which release ran there, and remembers this one.",
)
@click.option("--whole", is_flag=True, help="A folder of files, such as a wheelhouse: --files DIR.")
@click.pass_context
def check(
    context: click.Context,
    manifest: Path | None,
    key_file: Path,
    folder: str,
    state_dir: Path | None,
    whole: bool,
) -> None:
    """Compare a program with a signed manifest.

    The default MANIFEST is the one beside the code. A copy from elsewhere is safer. Prints one line
    for each file that differs from the release. Exit 0: no difference; 1: a difference, a signature
    of another key, a release older than one before; 2: a file cannot be read.
    """
    place, verify = _choose_program_folder(folder), read_release_key(key_file)
    path = manifest or place / (FOLDER_MANIFEST if whole else MANIFEST)
    try:
        signed = read_signed_manifest(path, verify)
    except BadRelease as wrong:
        click.echo(f"{path}: {wrong}")
        context.exit(1)
    text = f"{FIRMWARE_FOLDER}: boards that carry it report another hash than the released one"
    unlike = (
        map(str, file_differences(signed.files, hash_folder_files(place)))
        if whole
        else find_differences(signed, place, text)
    )
    wrong_lines = list(unlike)
    before = None if state_dir is None else read_remembered_release(state_dir)
    if before is not None and signed.serial < before.serial:
        wrong_lines.insert(
            0,
            f"{_format_release(signed)} is older than {before.version} (serial {before.serial}), "
            f"which {state_dir} has seen",
        )
    for line in wrong_lines:
        click.echo(line)
    if wrong_lines:
        context.exit(1)
    if state_dir is not None:
        remember_release(state_dir, signed)
    click.echo(f"{_format_release(signed)}: {len(signed.files)} files, all as released")


def _choose_program_folder(folder: str) -> Path:
    return find_program_folder() if folder == INSTALLED else Path(folder)


def _format_release(manifest: Manifest) -> str:
    return f"release {manifest.version} (serial {manifest.serial}, {manifest.released})"

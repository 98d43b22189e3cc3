"""A manifest: one vector for other programs, what its signature covers, and how it is compared."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.messages import ConnectedBoard, Firmware, ProgramRelease, ReportedBoards
from controller.signing.releases import (
    BadRelease,
    Manifest,
    ReleaseComparison,
    check_manifest_signature,
    compare_release,
    decode_manifest,
    encode_manifest,
    file_differences,
    program_hash,
    sign_manifest,
)
from controller.signing.signed_heads import verify_key

SECRET = bytes(range(32))
VERIFY = verify_key(SECRET)
FIRMWARE = Firmware(version="0.1.0", hash="825b428592cdc71f")
BOARD = ConnectedBoard(version=FIRMWARE.version, hash=FIRMWARE.hash)
MANIFEST = Manifest(
    version="0.1.0",
    released="2027-03-01",
    serial=7,
    files={"drivers/b.py": "22" * 32, "controller/a.py": "11" * 32},
    firmware={"dealer": FIRMWARE, "reader": FIRMWARE},
)
HASH = "4cf3035a0bc13349a50a72c1db2ba7f79b3fb7d251085f4def23db39a1de53d0"
SIG = (
    "df61b20874d7a0a80f967bef16c1f06477da64c8ccbc5e6696516d90f50290f7"
    "cc9307d20ecaa5571d3637d61252465a7166a402a185bb60ac0c7754996daa0b"
)
paths = st.text("abc/.", min_size=1, max_size=4)
digests = st.dictionaries(paths, st.sampled_from(["11" * 32, "22" * 32, "33" * 32]), max_size=6)


def test_a_programs_hash_is_the_known_one_whatever_order_its_files_come_in() -> None:
    assert MANIFEST.release == ProgramRelease(version="0.1.0", serial=7, hash=HASH)
    assert program_hash(dict(sorted(MANIFEST.files.items()))) == HASH


@given(digests, digests)
def test_two_programs_hash_to_the_same_exactly_where_no_file_differs(
    files: dict[str, str], others: dict[str, str]
) -> None:
    same = program_hash(files) == program_hash(others)

    assert same == (files == others) == (not list(file_differences(files, others)))


def test_a_manifest_is_the_same_bytes_however_it_came_about() -> None:
    again = decode_manifest(encode_manifest(MANIFEST))

    assert again == MANIFEST
    assert encode_manifest(again) == encode_manifest(MANIFEST)
    assert encode_manifest(MANIFEST).endswith(b"\n}\n")


SPOILT: list[bytes] = [
    b"",
    b"[]",
    b"\xff",
    encode_manifest(MANIFEST).replace(b'"serial": 7', b'"serial": 0'),
    encode_manifest(MANIFEST).replace(b'"serial": 7', b'"serial": "7"'),
    encode_manifest(MANIFEST).replace(b'"serial"', b'"number"'),
    encode_manifest(MANIFEST).replace(b"2027-03-01", b"today"),
    encode_manifest(MANIFEST).replace(b'"schema": 1', b'"schema": 2'),
    encode_manifest(MANIFEST).replace(b"11" * 32, b"11"),
    encode_manifest(MANIFEST).replace(b'"dealer"', b'"shuffler"'),
]


@pytest.mark.parametrize("raw", SPOILT)
def test_what_is_no_manifest_is_told(raw: bytes) -> None:
    with pytest.raises(BadRelease, match="no manifest"):
        decode_manifest(raw)


def test_the_signature_is_the_known_one() -> None:
    raw = encode_manifest(MANIFEST)

    assert sign_manifest(raw, SECRET) == SIG
    check_manifest_signature(raw, SIG, VERIFY)


CHANGES: list[Callable[[bytes, str, bytes], tuple[bytes, str, bytes]]] = [
    lambda raw, sig, verify: (raw.replace(b'"serial": 7', b'"serial": 8'), sig, verify),
    lambda raw, sig, verify: (raw + b" ", sig, verify),
    lambda raw, sig, verify: (raw, sig[:-2] + "00", verify),
    lambda raw, sig, verify: (raw, sig.upper(), verify),
    lambda raw, sig, verify: (raw, "", verify),
    lambda raw, sig, verify: (raw, "no hex", verify),
    lambda raw, sig, verify: (raw, sig, verify_key(bytes(32))),
    lambda raw, sig, verify: (raw, sig, b"short"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_signature_fits_one_manifest_and_one_key(
    change: Callable[[bytes, str, bytes], tuple[bytes, str, bytes]],
) -> None:
    with pytest.raises(BadRelease, match="signature"):
        check_manifest_signature(*change(encode_manifest(MANIFEST), SIG, VERIFY))


def test_a_file_that_is_not_as_released_is_a_line_of_its_own() -> None:
    installed = {"controller/a.py": "33" * 32, "controller/\x1b[2J.py": "44" * 32}

    lines = [str(one) for one in file_differences(MANIFEST.files, installed)]

    assert lines == [
        "controller/\\x1b[2J.py: not of this release",
        "controller/a.py: changed",
        "drivers/b.py: missing",
    ]


def reports(
    release: ProgramRelease | None = MANIFEST.release,
    dealer: ConnectedBoard | None = BOARD,
    reader: ConnectedBoard | None = BOARD,
) -> ReleaseComparison:
    return compare_release(MANIFEST, release, ReportedBoards(dealer=dealer, reader=reader))


def test_a_table_that_reports_what_was_released_is_the_same() -> None:
    assert reports() == ReleaseComparison(program="same", dealer="same", reader="same")


@pytest.mark.parametrize("change", [{"version": "0.1.1"}, {"serial": 8}, {"hash": "00" * 32}])
def test_a_program_that_reports_anything_else_is_another(change: dict[str, object]) -> None:
    other = msgspec.structs.replace(MANIFEST.release, **change)

    assert reports(other).program == "other"


def test_what_reports_nothing_is_unknown() -> None:
    assert reports(None, dealer=None) == ReleaseComparison(
        program="unknown", dealer="unknown", reader="same"
    )
    bare = msgspec.structs.replace(MANIFEST, firmware={})
    assert compare_release(bare, None, ReportedBoards(dealer=BOARD)).dealer == "unknown"


def test_each_board_is_compared_with_its_own_kind() -> None:
    other = ConnectedBoard(version="0.1.0", hash="ff" * 8)

    assert reports(reader=other) == ReleaseComparison(program="same", dealer="same", reader="other")
    both = msgspec.structs.replace(
        MANIFEST, firmware={"dealer": FIRMWARE, "reader": Firmware(version="0.1.0", hash="ff" * 8)}
    )
    assert compare_release(
        both, None, ReportedBoards(dealer=other, reader=other)
    ) == ReleaseComparison(program="unknown", dealer="other", reader="same")

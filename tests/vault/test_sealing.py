"""Boxes and key files: nothing on the disk that opens without the attempt's or the chief's key."""

import os
import random
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.public import PrivateKey, SealedBox

from controller.vault.sealing import (
    AttemptKey,
    AttemptKeyFiles,
    RuntimeDirError,
    UnsealError,
    check_runtime_dir,
    seal_to,
    unseal_with,
)


def entropy(seed: int = 1) -> random.Random:
    return random.Random(seed)


@given(plain=st.binary(max_size=600), seed=st.integers())
def test_what_was_sealed_opens_with_the_same_key_alone(plain: bytes, seed: int) -> None:
    source = entropy(seed).randbytes
    key = AttemptKey.new(source)
    box = key.seal(plain)
    assert len(box) == len(plain) + 40
    assert AttemptKey(key.raw, source).unseal(box) == plain
    with pytest.raises(UnsealError):
        AttemptKey.new(source).unseal(box)


@given(position=st.integers(0, 71))
def test_a_changed_box_does_not_open(position: int) -> None:
    key = AttemptKey.new(entropy().randbytes)
    box = bytearray(key.seal(bytes(32)))
    box[position] ^= 1
    with pytest.raises(UnsealError):
        key.unseal(bytes(box))


@given(plain=st.binary(max_size=100), seed=st.integers())
def test_what_is_sealed_to_the_chief_is_a_standard_sealed_box(plain: bytes, seed: int) -> None:
    chief = PrivateKey(entropy(7).randbytes(32))
    box = seal_to(bytes(chief.public_key), plain, entropy(seed).randbytes)
    assert SealedBox(chief).decrypt(box) == plain
    assert unseal_with(bytes(chief), box) == plain


def test_nobody_else_opens_what_is_sealed_to_the_chief() -> None:
    chief, other = (PrivateKey(entropy(seed).randbytes(32)) for seed in (7, 8))
    box = seal_to(bytes(chief.public_key), b"key", entropy().randbytes)
    with pytest.raises(UnsealError):
        unseal_with(bytes(other), box)


def test_the_same_entropy_makes_the_same_boxes_so_that_a_deal_replays() -> None:
    chief = bytes(PrivateKey(entropy(7).randbytes(32)).public_key)
    assert seal_to(chief, b"x", entropy(3).randbytes) == seal_to(chief, b"x", entropy(3).randbytes)


def test_no_two_boxes_share_a_nonce() -> None:
    key = AttemptKey.new(entropy().randbytes)
    assert len({key.seal(b"same")[:24] for _ in range(50)}) == 50


@pytest.mark.parametrize("show", [repr, str])
def test_an_attempt_key_prints_nothing(show: type[str]) -> None:
    assert show(AttemptKey(bytes(32), entropy().randbytes)) == "AttemptKey(…)"


# The file.


def test_a_key_is_found_again_and_is_for_this_user_alone(runtime_dir: Path, tmp_path: Path) -> None:
    keys = AttemptKeyFiles(runtime_dir, tmp_path)
    keys.write(12, bytes(range(32)))
    assert AttemptKeyFiles(runtime_dir, tmp_path).read(12) == bytes(range(32))
    (file,) = runtime_dir.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_each_attempt_has_its_own_key(runtime_dir: Path, tmp_path: Path) -> None:
    keys = AttemptKeyFiles(runtime_dir, tmp_path)
    keys.write(12, bytes(32))
    keys.write(13, bytes(range(32)))
    keys.remove(12)
    keys.remove(12)
    assert (keys.read(12), keys.read(13)) == (None, bytes(range(32)))


def test_half_a_key_is_none(runtime_dir: Path, tmp_path: Path) -> None:
    keys = AttemptKeyFiles(runtime_dir, tmp_path)
    keys.write(12, bytes(31))
    assert keys.read(12) is None


def test_a_crash_in_mid_write_leaves_the_key_as_it_was(runtime_dir: Path, tmp_path: Path) -> None:
    (runtime_dir / ".attempt-12.key").write_bytes(b"half")
    keys = AttemptKeyFiles(runtime_dir, tmp_path)
    assert keys.read(12) is None
    keys.write(12, bytes(32))
    assert [path.name for path in runtime_dir.iterdir()] == ["attempt-12.key"]


def test_a_runtime_dir_on_a_disk_is_refused(tmp_path: Path, runtime_dir: Path) -> None:
    status = runtime_dir.stat()
    device = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 35 {device} / / rw,noatime master:1 - ext4 /dev/root rw\n")
    with pytest.raises(RuntimeDirError, match="is on ext4, not in memory"):
        check_runtime_dir(runtime_dir, tmp_path, mounts)
    mounts.write_text("36 35 98:0 / / rw - ext4 /dev/root rw\n")
    with pytest.raises(RuntimeDirError, match="unknown filesystem"):
        check_runtime_dir(runtime_dir, tmp_path, mounts)


def test_a_runtime_dir_inside_the_state_directory_is_refused(runtime_dir: Path) -> None:
    inside = runtime_dir / "run"
    inside.mkdir(mode=0o700)
    hidden = runtime_dir / "elsewhere"
    hidden.symlink_to(inside)
    for path in (runtime_dir, inside, hidden):
        with pytest.raises(RuntimeDirError, match="state_dir"):
            check_runtime_dir(path, runtime_dir)


def test_a_runtime_dir_open_to_others_is_refused(runtime_dir: Path, tmp_path: Path) -> None:
    runtime_dir.chmod(0o750)
    with pytest.raises(RuntimeDirError, match="chmod 0700"):
        check_runtime_dir(runtime_dir, tmp_path)


def test_a_runtime_dir_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RuntimeDirError) as refused:
        check_runtime_dir(tmp_path / "nowhere", tmp_path)
    assert "\n" not in str(refused.value)

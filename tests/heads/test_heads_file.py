"""The file of kept heads: lines are added, none is lost, and nothing else is written over."""

import os
from pathlib import Path

import msgspec
import pytest

from controller.cli.watch import KeptHeadsFile
from controller.host.toml_files import FileError
from controller.signing.signed_heads import KeptHead


def head(n: int, which: int = 0) -> KeptHead:
    return KeptHead(
        table="T01", table_key="K" * 40, n=n, head=f"{which:064x}", sig="5" * 128, time="12:00"
    )


def lines(path: Path) -> list[KeptHead]:
    return [msgspec.json.decode(line, type=KeptHead) for line in path.read_bytes().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "heads.jsonl"


def keep(path: Path, *heads: KeptHead) -> list[str | None]:
    """Show heads to a file in one run of a watcher; return what it says of each."""
    with KeptHeadsFile(path) as file:
        said: list[str | None] = []
        for one in heads:
            wrong = file.add(one)
            file.write_added()
            said.append(None if wrong is None else wrong.kind)
        return said


def test_every_head_is_a_line_of_json_and_none_is_there_twice(path: Path) -> None:
    keep(path, head(1), head(4), head(4))
    keep(path, head(4), head(1), head(9))

    assert lines(path) == [head(1), head(4), head(9)]


def test_a_later_watcher_knows_what_an_earlier_one_kept(path: Path) -> None:
    assert keep(path, head(4, 1), head(9, 2)) == [None, None]

    assert keep(path, head(9, 2)) == [None]
    assert keep(path, head(4, 7)) == ["forked"]
    assert keep(path, head(5, 8)) == ["rewound"]
    assert lines(path) == [head(4, 1), head(9, 2), head(4, 7), head(5, 8)]


def test_what_contradicts_itself_in_the_file_is_known_at_once(path: Path) -> None:
    keep(path, head(4, 1), head(4, 2))

    with KeptHeadsFile(path) as file:
        assert [wrong.kind for wrong in file.disagreements] == ["forked"]


def test_a_line_that_a_power_cut_left_half_written_is_taken_away(path: Path) -> None:
    keep(path, head(1), head(4))
    whole = path.read_bytes()
    for cut in range(1, 8):
        path.write_bytes(whole + whole[: cut * 9])
        keep(path, head(9))
        assert lines(path) == [head(1), head(4), head(9)]


def test_a_whole_line_without_its_end_is_kept(path: Path) -> None:
    keep(path, head(1), head(4))
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))

    keep(path, head(9))

    assert lines(path) == [head(1), head(4), head(9)]


@pytest.mark.parametrize(
    "text", ["[table]\nid = 1\n", "no newline", "{}\n", '{"table": 1}\n', "\n"]
)
def test_another_file_is_refused_and_stays_as_it_is(path: Path, text: str) -> None:
    path.write_text(text)

    with pytest.raises(FileError, match="line 1 is no kept head"):
        KeptHeadsFile(path)

    assert path.read_text() == text


def test_two_watchers_do_not_write_into_one_file(path: Path) -> None:
    with KeptHeadsFile(path), pytest.raises(FileError, match="another watch"):
        KeptHeadsFile(path)
    KeptHeadsFile(path).__exit__(None, None, None)


def test_a_folder_or_a_missing_one_is_told_in_one_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "heads.jsonl"):
        with pytest.raises(FileError, match="cannot be opened"):
            KeptHeadsFile(path)


def test_without_room_a_head_is_kept_as_soon_as_there_is_some(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    with KeptHeadsFile(path) as file:
        file.add(head(1))
        file.write_added()
        with monkeypatch.context() as disk:
            disk.setattr("controller.cli.watch.os.fsync", full)
            file.add(head(4))
            with pytest.raises(FileError, match="No space left"):
                file.write_added()
            assert lines(path) == [head(1)]
        file.add(head(9))
        file.write_added()

    assert lines(path) == [head(1), head(4), head(9)]


def test_a_head_is_on_the_disk_before_the_next_is_looked_at(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    real = os.fsync

    def fsync(file: int) -> None:
        synced.append(os.fstat(file).st_size)
        real(file)

    monkeypatch.setattr("controller.cli.watch.os.fsync", fsync)
    keep(path, head(1), head(4), head(4))

    assert len(synced) == 2
    assert synced[-1] == path.stat().st_size

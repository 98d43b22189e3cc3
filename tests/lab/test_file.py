"""The file of deals: what goes in comes out, and nothing else is taken for one."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.host.toml_files import FileError
from sim.lab.collected_deals import (
    MAX_DEALS,
    DealsSource,
    InvalidDeals,
    load_deals,
    make_deals,
    number_cards,
    read_deals,
    save_deals,
)
from tests.lab.dealing import production, same


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "deals.npz"
    save_deals(production(30), path)
    return path


def test_what_was_written_is_read_again(path: Path) -> None:
    assert same(load_deals(path), production(30))
    assert load_deals(path).source == production(30).source


def test_the_same_deals_give_the_same_bytes(path: Path, tmp_path: Path) -> None:
    save_deals(production(30), tmp_path / "again.npz")

    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_other_programs_read_it_as_the_page_says(path: Path) -> None:
    arrays = dict(np.load(path))

    assert set(arrays) == {
        "cards",
        "waiting",
        "seats",
        "verdicts",
        "collected",
        "follows",
        "source",
    }
    rows = ("cards", "waiting", "seats", "verdicts", "collected")
    assert {arrays[name].shape for name in rows} == {(30, 108)}
    assert arrays["follows"].shape == (30,)


def test_a_deal_takes_less_than_250_bytes(tmp_path: Path) -> None:
    save_deals(production(500), tmp_path / "many.npz")

    assert (tmp_path / "many.npz").stat().st_size < 500 * 250


def test_deals_without_a_stack_have_none_in_the_file(tmp_path: Path) -> None:
    dealt = production(5)
    bare = make_deals(dealt.cards, dealt.waiting, dealt.seats, source=DealsSource(path="given"))
    save_deals(bare, tmp_path / "bare.npz")

    assert load_deals(tmp_path / "bare.npz").collected is None


def test_a_file_that_is_not_there_or_none_of_ours_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("cards")

    for name in ("missing", "text"):
        with pytest.raises(FileError) as caught:
            load_deals(tmp_path / name)
        assert "\n" not in str(caught.value)
        assert name in str(caught.value)


def test_a_file_cut_short_or_changed_is_refused(path: Path) -> None:
    raw = path.read_bytes()
    for broken in (raw[:-50], raw[: len(raw) // 2], b"", raw[:200] + bytes(64) + raw[264:]):
        with pytest.raises(InvalidDeals):
            read_deals(io.BytesIO(broken))


def changed(path: Path, **arrays: Any) -> io.BytesIO:
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=True, **(dict(np.load(path)) | arrays))
    return out


def test_arrays_that_are_no_deals_are_refused(path: Path) -> None:
    good = dict(np.load(path))
    twice, five_hands, far = good["cards"].copy(), good["seats"].copy(), good["verdicts"].copy()
    twice[3, 4], five_hands[2, 0], far[1, 1] = twice[3, 5], 4, 9
    for arrays, words in (
        ({"cards": twice}, "row 3: its cards"),
        ({"seats": five_hands}, "row 2: the hands"),
        ({"verdicts": far}, "row 1: a verdict"),
        ({"cards": good["cards"].astype(np.int64)}, "cards"),
        ({"cards": good["cards"][:, :50]}, "cards"),
        ({"cards": good["cards"][:3]}, "waiting"),
        ({"follows": np.ones(30, np.bool_)}, "row 0"),
        ({"source": np.frombuffer(b"{", np.uint8)}, "no file of collected deals"),
        ({"cards": np.array([{}], dtype=object)}, "cards"),
    ):
        with pytest.raises(InvalidDeals, match=words):
            read_deals(changed(path, **arrays))


def test_a_file_that_claims_more_deals_than_there_are_is_not_unpacked(path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (MAX_DEALS + 1, 108)}
    )
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, header.getvalue() if name == "cards.npy" else old.read(name))

    with pytest.raises(InvalidDeals, match="cards"):
        read_deals(out)


def test_rows_that_a_program_hands_in_are_checked() -> None:
    dealt = production(3)
    with pytest.raises(InvalidDeals, match="rows of 108"):
        make_deals(dealt.cards[:, :10], dealt.waiting, dealt.seats)
    with pytest.raises(InvalidDeals, match="seats"):
        make_deals(dealt.cards, dealt.waiting, dealt.seats[:2])
    with pytest.raises(InvalidDeals, match="0…255"):
        make_deals(dealt.cards.astype(float), dealt.waiting, dealt.seats)


def test_faces_become_cards_by_the_order_in_which_twins_come() -> None:
    faces = production(4).cards % 54
    cards = number_cards(faces)

    assert np.array_equal(np.sort(cards, axis=1)[0], np.arange(108))
    assert np.array_equal(cards % 54, faces)
    first = [int(np.flatnonzero(faces[0] == face)[0]) for face in range(54)]
    assert (cards[0, first] < 54).all()

"""A flash of a chip: MicroPython's unix port at a pty, with the real boot and the real firmware."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from drivers.flash.firmware_image import FirmwareRolledBack, FlashRefused, WrongHash
from drivers.flash.micropython_prompt import MicroPythonPrompt
from tests.flash.chip_on_pty import NEWER, ON_BOARD, OWN, OnPty, patched

MakeChip = Callable[..., OnPty]


def test_a_board_of_ours_gets_the_new_firmware_and_loses_the_old_one(chip: MakeChip) -> None:
    board = chip()
    welcome = board.welcome()
    assert (welcome.hal, welcome.firmware_hash) == ("rp2", OWN.hash)
    found = board.flasher(NEWER).flash()
    assert (found.firmware, found.firmware_hash) == ("0.1.1", NEWER.hash)
    assert board.text("slot") == "b"
    assert board.names("b") == set(NEWER.files)
    assert not (board.flash / "a").exists()
    assert found.boot > welcome.boot
    assert board.teller.bytes == NEWER.size
    assert board.text("service") == ""


def test_a_chip_that_was_never_ours_becomes_a_board(chip: MakeChip) -> None:
    board = chip(None)
    assert board.flasher(OWN, "reader").query_board(0.3) is None
    assert board.flasher(OWN, "reader").find_differing_files() == sorted(OWN.files)
    found = board.flasher(OWN, "reader").flash()
    assert (found.kind, found.firmware_hash) == ("reader", OWN.hash)
    assert (board.text("slot"), board.text("board")) == ("a", "reader")


def test_a_prompt_answers_after_bytes_that_are_no_text(micropython: str, tmp_path: Path) -> None:
    """A HELLO can hold the byte that runs what came before it: no error ends the prompt."""
    typed = b"\x01" + b"\xff\xfe" + b"\x04" + b"print(6 * 7)" + b"\x04"
    prompt = subprocess.run(
        [micropython, ON_BOARD / "prompt.py"], cwd=tmp_path, input=typed, capture_output=True
    )
    assert prompt.stdout.endswith(b"OK42\n\x04\x04>")


@pytest.mark.parametrize("spoiled", ["b/firmware/protocol.py", "b/firmware/rp2_loop.py", "main.py"])
def test_what_reads_back_otherwise_is_refused_and_the_old_one_runs_on(
    chip: MakeChip, monkeypatch: pytest.MonkeyPatch, spoiled: str
) -> None:
    board = chip()
    main = board.text("main.py")
    restart = MicroPythonPrompt.restart

    def while_it_restarts(prompt: MicroPythonPrompt) -> None:
        path = board.flash / spoiled
        if board.names("b"):
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        restart(prompt)

    monkeypatch.setattr(MicroPythonPrompt, "restart", while_it_restarts)
    newer = patched(NEWER, "rp2_loop.py", (b"IDLE_INTERVAL_MS = 1000", b"IDLE_INTERVAL_MS = 1001"))
    with pytest.raises(WrongHash, match=Path(spoiled).name) as told:
        board.flasher(newer).flash()
    assert "the old one is kept" in str(told.value)
    assert "\n" not in str(told.value)
    assert not (board.flash / "b").exists()
    assert board.text("main.py") == main
    assert board.flasher(OWN).is_running_image(board.welcome())


BROKEN = patched(NEWER, "rp2_hal.py", (b"import machine\n", b"import machine\n1 / 0\n"))
MUTE = patched(
    patched(NEWER, "rp2_loop.py", (b"TRIAL_MS = 60_000", b"TRIAL_MS = 1_500")),
    "board.py",
    (b"        if not session:\n            return\n", b"        return\n"),
)


@pytest.mark.parametrize("new", [BROKEN, MUTE], ids=["raises", "says nothing"])
def test_a_firmware_that_does_not_answer_gives_way_to_the_old_one_by_itself(
    chip: MakeChip, new: object
) -> None:
    board = chip()
    with pytest.raises(FirmwareRolledBack, match=r"went back to 0\.1\.0") as told:
        board.flasher(new).flash()  # type: ignore[arg-type]
    assert "\n" not in str(told.value)
    assert board.text("slot") == "a"
    assert board.names("a") == set(OWN.files)
    assert board.flasher(OWN).is_running_image(board.welcome())


@pytest.mark.parametrize("at_prompt", [False, True])
def test_a_board_of_the_other_kind_is_left_alone(chip: MakeChip, at_prompt: bool) -> None:
    board = chip(kind="reader", at_prompt=at_prompt)
    with pytest.raises(FlashRefused, match="this is a reader board, not dealer"):
        board.flasher(NEWER).flash()
    assert board.names("a") == set(OWN.files)
    assert board.names("b") == set()
    assert board.flasher(OWN, "reader").is_running_image(board.welcome("reader"))


def test_a_board_that_does_not_stand_still_keeps_its_chip(
    chip: MakeChip, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = chip(
        patched(
            OWN,
            "board.py",
            (b"protocol.BUSY if self.is_busy() else protocol.DONE", b"protocol.BUSY"),
        ),
        "reader",
    )
    with pytest.raises(FlashRefused, match=r"cannot stop now \(BUSY\)"):
        board.flasher(NEWER, "reader").flash()
    assert board.names("b") == set()
    assert board.welcome("reader").kind == "reader"

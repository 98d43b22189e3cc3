"""/main.py of a chip: which firmware starts, and what happens when it does not go on."""

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.flash.chip import main as boot

STATES = [
    ("", ("a", False, "a")),
    ("a", ("a", False, "a")),
    ("b\n", ("b", False, "b")),
    ("a b 1", ("b", True, "a b 0")),
    ("b a 2", ("a", True, "b a 1")),
    ("a b 0", ("a", False, "a")),
    ("b a 0", ("b", False, "b")),
    ("nonsense", ("a", False, "a")),
    ("a b x", ("a", False, "a")),
]


@pytest.mark.parametrize(("state", "chosen"), STATES)
def test_the_slot_that_starts(state: str, chosen: tuple[str, bool, str]) -> None:
    assert boot.choose_slot(state) == chosen


@given(state=st.text(st.sampled_from("ab 01\n")) | st.text(max_size=9))
def test_whatever_the_file_says_some_slot_starts_and_a_trial_ends(state: str) -> None:
    for _ in range(60):
        slot, trial, state = boot.choose_slot(state)
        assert slot in boot.SLOTS
        if not trial:
            break
    assert boot.choose_slot(state) == (slot, False, state) or not state[-1].isdigit()


def test_a_trial_has_one_start_and_the_one_before_follows() -> None:
    state = boot.trial_state("b", "a")
    slot, trial, state = boot.choose_slot(state)
    assert (slot, trial) == ("a", True)
    slot, trial, state = boot.choose_slot(state)
    assert (slot, trial, state) == ("b", False, "b")


class Restarted(BaseException):
    """The chip began anew."""


@pytest.fixture
def chip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    """Be a chip whose flash is the present folder; its slots say which of them ran."""
    ran: list[tuple[str, bool]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    machine, rp2 = types.ModuleType("machine"), types.ModuleType("rp2")

    def reset() -> None:
        raise Restarted

    vars(machine)["reset"] = reset
    vars(rp2)["bootsel_button"] = lambda: 0
    for name, module in {"machine": machine, "rp2": rp2}.items():
        monkeypatch.setitem(sys.modules, name, module)
    vars(machine)["ran"] = ran
    for slot in boot.SLOTS:
        folder = tmp_path / slot / "firmware"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "main.py").write_text(
            "import machine\n"
            f"def chip(trial):\n    machine.ran.append(({slot!r}, trial))\n    machine.reset()\n"
        )
    yield ran
    forget()


def forget() -> None:
    """Forget what was imported, as a restart does."""
    for name in ("firmware", "firmware.main"):
        sys.modules.pop(name, None)
    for slot in boot.SLOTS:
        sys.path_importer_cache.pop(slot, None)  # of the folder of another test


def start() -> bool:
    """Start the chip; tell whether a firmware ran until it restarted."""
    path = list(sys.path)
    try:
        boot.start()
    except Restarted:
        return True
    finally:
        sys.path[:] = path
        forget()
    return False


def test_a_firmware_on_trial_runs_once_then_the_one_before(chip: list[tuple[str, bool]]) -> None:
    Path("slot").write_text("a b 1")
    assert [start() for _ in range(3)] == [True] * 3
    assert chip == [("b", True), ("a", False), ("a", False)]
    assert Path("slot").read_text() == "a"


@pytest.mark.parametrize("wrong", ["1 / 0\n", "def chip(:\n", ""])
def test_a_firmware_on_trial_that_cannot_start_gives_way_at_once(
    chip: list[tuple[str, bool]], wrong: str
) -> None:
    Path("slot").write_text("a b 1")
    Path("b/firmware/main.py").write_text(wrong)
    assert [start(), start()] == [True, True]
    assert chip == [("a", False)]
    assert Path("failed").read_text()
    assert not Path("service").exists()


def test_the_only_firmware_that_cannot_start_leads_to_the_prompt_and_is_tried_again_later(
    chip: list[tuple[str, bool]],
) -> None:
    Path("slot").write_text("a")
    Path("a/firmware/main.py").write_text("1 / 0\n")
    assert start()  # it restarts
    assert not start()  # the prompt
    assert start()
    assert chip == []


@pytest.mark.parametrize(("state", "ran"), [("a", ["a", "a"]), ("a b 1", ["b", "a"])])
def test_a_firmware_that_fails_as_it_runs_is_started_again_unless_it_was_on_trial(
    chip: list[tuple[str, bool]], state: str, ran: list[str]
) -> None:
    Path("slot").write_text(state)
    for slot in boot.SLOTS:
        Path(slot, "firmware/main.py").write_text(
            f"import machine\ndef chip(trial):\n    machine.ran.append(({slot!r}, 1))\n    1 / 0\n"
        )
    assert [start(), start()] == [True, True]
    assert [slot for slot, _ in chip] == ran
    assert "ZeroDivisionError" in Path("failed").read_text()


def test_a_technician_gets_the_prompt_once(chip: list[tuple[str, bool]]) -> None:
    Path("service").write_text("1")
    assert [start(), start()] == [False, True]
    assert chip == [("a", False)]


def test_a_button_that_is_held_leads_to_the_prompt_too(chip: list[tuple[str, bool]]) -> None:
    vars(sys.modules["rp2"])["bootsel_button"] = lambda: 1
    Path("slot").write_text("a b 1")
    assert not start()
    assert Path("slot").read_text() == "a b 1"  # no start was spent
    assert chip == []


@pytest.mark.parametrize("cut", range(3))
def test_a_cut_of_the_power_while_the_slot_is_written_leaves_one_of_both_states(
    chip: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    Path("slot").write_text("a")
    if cut == 0:
        Path("slot.new").write_text("a b")  # half of it
    elif cut == 1:
        Path("slot.new").write_text("a b 1")
    else:
        boot.save("slot", "a b 1")
    assert start()
    assert chip == [("b", True) if cut == 2 else ("a", False)]

"""A barcode reader's profile: what is wrong with one, and how its cards are learnt."""

import os
import select
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pytest_mock import MockerFixture

from controller.cards import FACE_COUNT, face_text
from controller.cli import CliError, adapter
from controller.cli.adapter import command, learn_cards
from controller.cli.adapter_files import BarcodeFileError, append_card, load_barcode_file
from drivers.adapters.barcode_engine import EngineLost

HEAD = """\
# Table 7, the engine from the box with the blue lid.
[adapter]
id = "00000000000000b1"
link = "reader"
folder = "own"

[engine]
port = "/dev/engine"
settle_ms = 1
timeout_ms = 100
late_ms = 0
"""
CARD = '[[card]]\ncode = "0113"\nface = "SA"\nback = "A"\n'


def file(folder: Path, text: str) -> Path:
    path = folder / "barcode.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_profile_says_what_the_adapter_needs(tmp_path: Path) -> None:
    profile = load_barcode_file(file(tmp_path, HEAD + CARD))
    assert profile.codes == {b"0113": (12, 0)}
    engine = profile.engine
    assert (engine.trigger, engine.trigger_off) == (b"\x16T\r", b"\x16U\r")
    assert (engine.end_of_line, engine.no_read) == (b"\r", b"")
    assert profile.adapter.link == tmp_path / "reader"
    assert len(profile.faces_without_code("A")) == FACE_COUNT - 1
    assert len(profile.faces_without_code("B")) == FACE_COUNT


def test_the_example_is_a_profile_but_for_its_cards() -> None:
    profile = load_barcode_file(Path("deploy/barcode.toml"))
    assert profile.cards == ()
    assert profile.engine.limit_ms < 500


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD.replace('"/dev/engine"', '""'), "engine.port"),
        (HEAD + 'parity = "mark"\n', "engine.parity"),
        (HEAD + 'trigger = "0x16"\n', "engine.trigger"),
        (HEAD + 'trigger = ""\n', "engine.trigger"),
        (HEAD + 'end_of_line = ""\n', "engine.end_of_line"),
        (HEAD.replace("timeout_ms = 100", "timeout_ms = 900\nbaud = 9600").replace(
            "late_ms = 0", "late_ms = 200"), "late_ms = 200: expected at most 980"),
        (HEAD.replace("settle_ms = 1", "settle_ms = 51"), "settle_ms = 51"),
        (HEAD + CARD.replace("SA", "S1"), "no card is called"),
        (HEAD + CARD.replace('"A"', '"C"'), "card[0].back"),
        (HEAD + CARD.replace("0113", "01 13"), "card[0].code"),
        (HEAD + CARD + CARD.replace("SA", "SK"), "card[1].code: expected another one than card[0]"),
        (HEAD + 'no_read = "0113"\n' + CARD, "expected another one than engine.no_read"),
        (HEAD.replace("b1", "B1"), "adapter.id"),
        (HEAD + "colour = 1\n", "colour"),
    ],
)  # fmt: skip
def test_a_wrong_profile_is_one_line_that_names_the_key(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(BarcodeFileError) as caught:
        load_barcode_file(file(tmp_path, text))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_card_more_leaves_all_else_as_it_was(tmp_path: Path) -> None:
    text = append_card(HEAD, 'a"\\b', 52, "B")
    assert text.startswith(HEAD.rstrip())
    assert load_barcode_file(file(tmp_path, text)).codes == {b'a"\\b': (52, 1)}


def test_a_reader_without_cards_is_told_to_learn_them(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["barcode", str(file(tmp_path, HEAD))])
    assert done.exit_code == 2
    assert "--learn" in done.output
    assert not (tmp_path / "own").exists()


# Learning.


class Laid:
    """An engine over a card that a person lays: each look sees what `sees` gives next."""

    def __init__(self) -> None:
        self.sees: Iterator[bytes | None] = iter(())
        self.away = False
        self._ends = os.pipe()

    def open(self) -> int:
        if self.away:
            raise EngineLost("/dev/engine: No such file or directory")
        return self._ends[0]

    def read(self) -> bytes:
        ready = select.select([self._ends[0]], [], [], 0)[0]
        return os.read(self._ends[0], 4096) if ready else b""

    def write(self, data: bytes) -> None:
        code = next(self.sees, None) if data == b"\x16T\r" else None
        if code is not None:
            os.write(self._ends[1], code + b"\r")

    def close(self) -> None:
        """The pipe goes with the test."""


@pytest.fixture
def laid(mocker: MockerFixture) -> Iterator[Laid]:
    laid = Laid()
    mocker.patch.object(adapter, "SerialEnginePort", return_value=laid)
    yield laid
    for end in laid._ends:
        os.close(end)


@pytest.fixture
def nearly(tmp_path: Path) -> Path:
    """A profile in which only ♦A and the jokers have no code yet."""
    text = HEAD
    for face in range(51):
        text = append_card(text, f"c{face:02d}", face, "A")
    return file(tmp_path, text)


def person(laid: Laid, answers: dict[str, list[Any]]) -> Callable[[str], str]:
    """Lay the card that is asked for: its next answer is a word, or what the engine sees."""

    def ask(text: str) -> str:
        [face] = [face for face in answers if f"lay {face} " in text]
        answer = answers[face].pop(0)
        if isinstance(answer, str):
            return answer
        laid.sees = iter(answer)
        return ""

    return ask


def test_each_card_is_shown_read_twice_alike_and_written_at_once(nearly: Path, laid: Laid) -> None:
    before = nearly.read_text(encoding="utf-8")
    learn_cards(
        nearly, "A", person(laid, {"♦A": [[b"new"] * 2], "SJ": [[b"x", b"y", b"y"]], "BJ": ["q"]})
    )
    profile = load_barcode_file(nearly)
    assert profile.codes[b"new"] == (51, 0)
    assert profile.codes[b"y"] == (52, 0)
    assert [face_text(face) for face in profile.faces_without_code("A")] == ["BJ"]
    assert nearly.read_text(encoding="utf-8").startswith(before.rstrip())


def test_it_goes_on_where_it_was_ended(
    nearly: Path, laid: Laid, capsys: pytest.CaptureFixture[str]
) -> None:
    learn_cards(nearly, "A", person(laid, {"♦A": ["q"]}))
    assert "3 cards of back A have no code yet" in capsys.readouterr().out
    learn_cards(nearly, "A", person(laid, {"♦A": ["s"], "SJ": [[b"y"] * 2], "BJ": [[b"z"] * 2]}))
    learn_cards(nearly, "A", person(laid, {"♦A": [[b"x"] * 2]}))
    assert "every card of back A has its code" in capsys.readouterr().out
    assert len(load_barcode_file(nearly).codes) == FACE_COUNT
    learn_cards(nearly, "A", person(laid, {}))


@pytest.mark.parametrize(
    ("sees", "says"),
    [
        ([b"c07"] * 2, "this code is that of ♠9, back A"),
        ([b"a", b"b"] * 3, "no code was read 2 times alike"),
        ([], "no code was read"),
        ([b"\xff\x01"] * 2, "signs that no code has"),
        ([b"one two"] * 2, "signs that no code has"),
    ],
)
def test_what_is_no_new_code_is_refused_and_the_card_asked_for_again(
    nearly: Path, laid: Laid, sees: list[bytes], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = nearly.read_bytes()
    learn_cards(nearly, "A", person(laid, {"♦A": [sees, "q"]}))
    assert says in capsys.readouterr().err
    assert nearly.read_bytes() == before


def test_a_person_who_breaks_off_loses_nothing(nearly: Path, laid: Laid) -> None:
    def ask(text: str) -> str:
        if "lay ♦A " in text:
            laid.sees = iter([b"new"] * 2)
            return ""
        raise click.Abort

    with pytest.raises(click.Abort):
        learn_cards(nearly, "A", ask)
    assert load_barcode_file(nearly).codes[b"new"] == (51, 0)
    assert [path.name for path in nearly.parent.iterdir()] == [nearly.name]


def test_an_engine_that_is_not_there_is_one_line(nearly: Path, laid: Laid) -> None:
    laid.away = True
    with pytest.raises(CliError, match="No such file or directory; plug the engine in"):
        learn_cards(nearly, "A", person(laid, {}))


def test_the_command_learns(nearly: Path, laid: Laid) -> None:
    laid.sees = iter([b"x", b"x"])
    done = CliRunner().invoke(command, ["barcode", str(nearly), "--learn"], input="\nq\n")
    assert done.exit_code == 0, done.output
    assert "1/3  lay ♦A in the window" in done.output
    assert load_barcode_file(nearly).codes[b"x"] == (51, 0)

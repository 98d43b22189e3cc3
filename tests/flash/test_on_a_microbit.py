"""A MicroPython that is not ours: Debian's firmware of a micro:bit, emulated, driven by mpremote.

What it shows: files written and read back over a restart, a wrong hash refused with the old ones
kept, and pieces of the firmware at work on a machine without an operating system. What it cannot:
its file system has no folders and 30 KB, its heap is 9.7 KB, and its MicroPython 1.9.2 knows no
annotated variables and no binascii. So the whole firmware and its boot run in test_on_a_chip.py.
"""

import ast
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import drivers.link
from drivers.flash import flashing
from drivers.flash.image import Image
from drivers.flash.prompt import Prompt
from drivers.flash.slots import Flat
from tests.flash.chip_on_pty import OWN

FIRMWARE = Path("/usr/share/firmware-microbit-micropython/firmware.hex")
QEMU = shutil.which("qemu-system-arm")
THERE = QEMU is not None and FIRMWARE.exists()
PIECES = ("lock.py", "tidy.py", "version.py")
"""As much of the firmware as lies on it twice."""
CHUNK, BURST = 64, 16

pytestmark = pytest.mark.skipif(
    not THERE and os.environ.get("DEALTABLE_SLOW") != "1",
    reason="qemu-system-arm and firmware-microbit-micropython are not installed",
)


@pytest.fixture
def port() -> Iterator[str]:
    """Switch a micro:bit on; where its serial port is."""
    assert QEMU is not None
    assert FIRMWARE.exists()
    serial = ("-serial", "pty", "-display", "none", "-monitor", "none")
    process = subprocess.Popen(
        [QEMU, "-M", "microbit", "-device", f"loader,file={FIRMWARE}", *serial],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"/dev/pts/\d+", process.stdout.readline())
    assert found is not None
    yield found.group()
    process.kill()
    process.communicate()


def prompt(port: str) -> Prompt:
    """Return its prompt, to be fed slowly: its UART has little room."""
    return Prompt(port, chunk=CHUNK, burst=BURST)


def pieces(mark: bytes) -> Image:
    return Image({name: OWN.files[name] + mark for name in PIECES}, b"")


def written(_: int) -> None:
    return


def test_files_are_read_back_after_a_restart_and_a_wrong_one_is_refused(port: str) -> None:
    old, new = pieces(b"# old\n"), pieces(b"# new\n")
    with prompt(port) as board:
        flashing.write(board, old, Flat("a"), written)
        flashing.write(board, new, Flat("b"), written)
        board.restart()
    with prompt(port) as board:
        assert flashing.differing(board, old, Flat("a")) == []
        assert flashing.differing(board, new, Flat("b")) == []
        spoiled = new.files["tidy.py"].replace(b"1000", b"1001")
        board.write("b_tidy.py", spoiled)
        board.restart()
    with prompt(port) as board:
        assert flashing.differing(board, new, Flat("b")) == ["tidy.py"]
        flashing.forget(board, new, Flat("b"))
        board.restart()
    with prompt(port) as board:
        assert flashing.differing(board, old, Flat("a")) == []
        names = ast.literal_eval(board.run("import os\nprint(os.listdir())"))
        assert sorted(names) == sorted(f"a_{name}" for name in PIECES)


SHIM = """\
def crc32(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
"""


def bare(name: str) -> bytes:
    """Return a file of the firmware without what only people and checkers read."""
    tree = ast.parse(OWN.files[name])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).encode()


def test_the_codec_frames_as_everywhere_on_a_machine_of_16_kilobytes(port: str) -> None:
    golden = json.loads((Path(drivers.link.__file__).parent / "golden.json").read_text("utf-8"))
    with prompt(port) as board:
        board.write("binascii.py", SHIM.encode())
        board.write("codec.py", bare("codec.py"))
        board.restart()
    with prompt(port) as board:
        board.run("import codec\nd = codec.Decoder()")
        for row in golden["frames"][::4]:
            payload, frame = bytes.fromhex(row["payload"]), bytes.fromhex(row["frame"])
            board.run(f"p = {payload!r}")
            assert board.run("print(codec.encode(p))") == repr(frame), row["name"]
            board.run(f"f = {frame!r}")
            assert board.run("print(d.feed(f) == [p])") == "True", row["name"]
        spoiled = bytearray(frame)
        spoiled[3] ^= 1
        board.run(f"f = {bytes(spoiled)!r}")
        assert board.run("print(d.feed(f), d.crc_errors + d.junk)") == "[] 1"


def test_the_memory_of_a_board_decides_when_to_tidy_there_too(port: str) -> None:
    with prompt(port) as board:
        board.write("tidy.py", bare("tidy.py"))
        board.run("from tidy import Tidy\nt = Tidy()")
        asked = ((0, True), (10, False), (40, True), (60, True), (500, True), (1100, True))
        said = [board.run(f"print(t.is_due({now}, {calm}))") for now, calm in asked]
        assert said == ["True", "False", "False", "True", "False", "True"]

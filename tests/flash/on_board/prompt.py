"""A chip's start under MicroPython's unix port: /main.py, then the raw prompt, on stdin and stdout.

Run in the folder that is the chip's flash, with tests/chip/mpy on MICROPYPATH. The unix port has
no raw prompt of its own; this one is what mpremote talks to, as far as it does. A reset ends the
process with code 3, and supervise.py starts it again.
"""

import io
import os
import sys

CTRL_A, CTRL_B, CTRL_C, CTRL_D = 1, 2, 3, 4
BANNER = "raw REPL; CTRL-B to exit\r\n>"
WINDOW = 256  # bytes that may be on their way while code is pasted
line_in = sys.stdin.buffer


def say(text):
    sys.stdout.write(text)


def byte():
    data = line_in.read(1)
    if not data:
        sys.exit(0)  # the power is gone
    return data[0]


def paste():
    """Take code with flow control, as the chip's own prompt does."""
    say("R\x01" + chr(WINDOW & 255) + chr(WINDOW >> 8))
    parts = []
    code = bytearray(WINDOW)
    taken = 0
    while True:
        char = byte()
        if char == CTRL_D:
            say("\x04")
            parts.append(bytes(code[:taken]))
            return b"".join(parts)
        code[taken] = char
        taken += 1
        if taken == WINDOW:
            parts.append(bytes(code))
            taken = 0
            say("\x01")


def run(code, names):
    error = b""
    try:
        exec(code, names)
    except Exception as wrong:
        said = io.BytesIO()
        sys.print_exception(wrong, said)
        error = said.getvalue()
    sys.stdout.buffer.write(b"\x04" + error + b"\x04>")


def prompt():
    names = {}
    code = b""
    raw = False
    while True:
        char = byte()
        if char == CTRL_A and raw and code == b"\x05A":
            code = b""
            run(paste(), names)
        elif char == CTRL_A:
            raw, code = True, b""
            say(BANNER)
        elif not raw:
            continue
        elif char == CTRL_B:
            raw = False
        elif char == CTRL_C:
            code = b""
        elif char == CTRL_D:
            say("OK")
            run(code, names)
            code = b""
        else:
            code += bytes([char])


try:
    os.stat("main.py")
    there = True
except OSError:
    there = False
if there:
    try:
        with open("main.py") as file:
            exec(file.read(), {"__name__": "__main__"})
    except Exception as wrong:
        sys.print_exception(wrong)
prompt()

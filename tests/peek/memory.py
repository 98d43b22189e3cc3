"""The memory of a process, sampled again and again: of each sample what was not there before."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = 4096
_EDGE = 512
_NOT_MEMORY = ("[vvar", "[vsyscall")
_POINTER = 8
_BIGGEST = 1 << 28
_LEAST = 8


class Memory:
    """What a process has in memory. Numbers and letters in its lists are pointers: see `lists`.

    A page that was seen with this content before is passed over; a new one comes with the edges of
    its neighbours, so that no run is cut between two pages.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.samples = 0
        self._seen: set[int] = set()
        self._lists = _Lists(pid)

    def new(self) -> Iterator[bytes]:
        """Yield the pages that are new since the last sample, those together that lie together."""
        self.samples += 1
        handle = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            for start, end in _readable(self.pid):
                for at in range(start, end, _BIGGEST):
                    yield from self._changed(_read(handle, at, min(end, at + _BIGGEST)))
        finally:
            os.close(handle)

    def lists(self, pages: bytes) -> bytes:
        """Return the numbers (to 255) and letters that lists in these pages hold, a byte each."""
        return self._lists.read(pages)

    def _changed(self, data: bytes) -> Iterator[bytes]:
        first = last = -1
        for at in range(0, len(data), PAGE):
            page = hash(data[at : at + PAGE])
            if page in self._seen:
                continue
            self._seen.add(page)
            if first >= 0 and at > last + PAGE:
                yield data[max(0, first - _EDGE) : last + PAGE + _EDGE]
                first = at
            first = at if first < 0 else first
            last = at
        if first >= 0:
            yield data[max(0, first - _EDGE) : last + PAGE + _EDGE]


class _Lists:
    """CPython keeps small numbers and single letters once, at places that a program's file fixes.

    A list of them is a row of pointers there. Where they are in another process of the same
    program is as far from its beginning as in this one.
    """

    def __init__(self, pid: int) -> None:
        mine = {number: id(number) for number in range(256)}
        letters = {ord(letter): id(letter) for letter in map(chr, range(33, 127))}
        file, base = _file_of(os.getpid(), mine[0])
        moved = _base_of(pid, file) - base
        self._means = {
            (address + moved).to_bytes(_POINTER, "little"): byte
            for of in (letters, mine)
            for byte, address in of.items()
        }
        ends = {pointer[2:] for pointer in self._means}
        self._row = re.compile(
            rb"(?:..(?:" + b"|".join(map(re.escape, ends)) + rb")){%d,}" % _LEAST, re.DOTALL
        )

    def read(self, pages: bytes) -> bytes:
        found = []
        for row in self._row.finditer(pages):
            pointers = row.group()
            found.append(
                bytes(
                    self._means.get(pointers[at : at + _POINTER], 0xFF)
                    for at in range(0, len(pointers), _POINTER)
                )
            )
        return b"\xff\xff".join(found)


def _read(handle: int, start: int, end: int) -> bytes:
    """Return what can be read of a range; a map that goes away meanwhile ends it."""
    parts = []
    while start < end:
        try:
            part = os.pread(handle, end - start, start)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _maps(pid: int) -> Iterator[tuple[int, int, str, str]]:
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        where, rights, _, _, _, *name = line.split(maxsplit=5)
        start, end = (int(word, 16) for word in where.split("-"))
        yield start, end, rights, "".join(name)


def _readable(pid: int) -> list[tuple[int, int]]:
    """Return all maps that can be read, those together that touch."""
    joined: list[tuple[int, int]] = []
    for start, end, rights, name in _maps(pid):
        if rights[0] != "r" or name.startswith(_NOT_MEMORY):
            continue
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _file_of(pid: int, address: int) -> tuple[str, int]:
    """Return the file behind an address, or before it (zeros have none), and where it begins."""
    named = [(start, name) for start, _, _, name in _maps(pid) if name.startswith("/")]
    _, file = max(each for each in named if each[0] <= address)
    return file, min(start for start, name in named if name == file)


def _base_of(pid: int, file: str) -> int:
    return min(start for start, _, _, name in _maps(pid) if name == file)

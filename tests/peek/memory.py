"""The memory of a process, sampled again and again: of each sample what was not there before."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

_EDGE = 512
_NOT_MEMORY = ("[vvar", "[vsyscall")
_POINTER = 8
_BIGGEST = 1 << 28
_LEAST = 8


class Memory:
    """What a process has in memory. Numbers and letters in its lists are pointers: see `lists`.

    What stands where it stood in the last sample is passed over; what is new comes with its
    surroundings, so that no run is cut where its beginning or its end was there already.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.samples = 0
        self._last: dict[int, bytes] = {}
        self._lists = _Lists(pid)

    def new(self) -> Iterator[bytes]:
        """Yield what is new since the last sample, what lies together together."""
        self.samples += 1
        last, self._last = self._last, {}
        handle = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            for start, end in _readable(self.pid):
                for at in range(start, end, _BIGGEST):
                    data = _read(handle, at, min(end, at + _BIGGEST))
                    self._last[at] = data
                    yield from _changed(data, _as_it_was(last, at, len(data)))
        finally:
            os.close(handle)

    def lists(self, pages: bytes) -> bytes:
        """Return the numbers (to 255) and letters that lists in these pages hold, a byte each."""
        return self._lists.read(pages)


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


def _as_it_was(last: dict[int, bytes], at: int, size: int) -> bytes:
    """Return what the last sample had of a range; zeros, in which nothing is, where it had none."""
    there = last.get(at)
    if there is not None and len(there) == size:
        return there
    was = bytearray(size)
    for start, data in last.items():
        begins, ends = max(at, start), min(at + size, start + len(data))
        if begins < ends:
            was[begins - at : ends - at] = data[begins - start : ends - start]
    return bytes(was)


def _changed(data: bytes, was: bytes) -> Iterator[bytes]:
    """Yield all pieces of `data` that are not as they were, each with its surroundings."""
    whole = len(data) // _POINTER * _POINTER  # pages, unless their map went away meanwhile
    words, before = (np.frombuffer(each[:whole], dtype=np.uint64) for each in (data, was))
    found = np.flatnonzero(words != before) * _POINTER
    if not found.size:
        return
    gaps = np.flatnonzero(np.diff(found) > 2 * _EDGE)
    firsts = found[np.concatenate(([0], gaps + 1))]
    lasts = found[np.concatenate((gaps, [found.size - 1]))]
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield data[max(0, first - _EDGE) : last + _POINTER + _EDGE]


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

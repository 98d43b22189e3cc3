"""The file /main.py of a chip, which runs one of two stored firmwares or returns to the prompt.

A firmware is in the folder `a` or `b`, as the package `firmware`. The file `slot` names the folder
to run: `a`; or `a b 1`: b is on trial with one start left, then a runs again. A failed firmware is
restarted. If it was on trial, the previous firmware starts. If a firmware cannot be loaded and no
other is left, the chip stays at MicroPython's prompt. The file `failed` has the reason.

The file `service`, or the button BOOTSEL held during the start, leads to the prompt once. Nothing
moves there: every pin is in its reset state.
"""

import os
import sys

SLOTS = ("a", "b")
SLOT = "slot"
SERVICE = "service"
FAILED = "failed"


def choose_slot(state: str) -> "tuple[str, bool, str]":
    """Return the slot to run (`a` or `b`), True if its firmware is on trial, and the new text of
    the file `slot`. `state` is the present text of that file.
    """
    words = state.split()
    known = [word for word in words[:2] if word in SLOTS]
    if len(words) == 3 and len(known) == 2 and words[2].isdigit():
        old, new = known
        left = int(words[2])
        if left > 0:
            return new, True, "%s %s %d" % (old, new, left - 1)
        return old, False, old
    slot = known[0] if known else SLOTS[0]
    return slot, False, slot


def trial_state(old: str, new: str) -> str:
    """Return a text for the file `slot` that runs slot `new` once on trial, and then slot `old`."""
    return "%s %s 1" % (old, new)


def load(path: str) -> str:
    """Return the text of the file `path`, or "" if it cannot be read."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def save(path: str, text: str) -> None:
    """Write `text` to the file `path`. After a power cut the file has its old or its new text."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def is_service_wanted() -> bool:
    """Return whether the button BOOTSEL is pressed, or the file `service` requests the prompt.

    This function removes the file.
    """
    import rp2

    if load(SERVICE):
        os.remove(SERVICE)
        return True
    return bool(rp2.bootsel_button())


def start() -> None:
    """Run the firmware that the file `slot` selects, or return if the prompt was requested."""
    if is_service_wanted():
        return
    state = load(SLOT)
    slot, trial, after = choose_slot(state)
    if after != state:
        save(SLOT, after)
    sys.path.insert(0, slot)
    try:
        from firmware.main import chip  # type: ignore[import-not-found]  # on the chip alone
    except Exception as error:
        restart(error, to_prompt=not trial)
        return
    try:
        chip(trial)
    except Exception as error:
        restart(error, to_prompt=False)


def restart(error: Exception, to_prompt: bool) -> None:
    """Write `error` into the file `failed`, and restart the chip, at its prompt if `to_prompt`."""
    import machine

    why = repr(error)
    if load(FAILED) != why:  # Writing the same error again and again would wear out the flash.
        save(FAILED, why)
    if to_prompt:
        save(SERVICE, "1")
    machine.reset()


if __name__ == "__main__":
    start()

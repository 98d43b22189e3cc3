"""/main.py of a chip: selects one of two firmwares, and gives a technician the prompt.

A firmware is in the folder `a` or `b`, as the package `firmware`. The file `slot` names the one to
run: `a`; or `a b 1`: b is on trial with one start left, then a runs again. A failed firmware is
restarted; on trial, the previous one starts. One that cannot be loaded, with no other left, leads
to the prompt. The file `failed` has the reason.

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
    """Return the slot (`a` or `b`) to run, whether it runs on trial, and the file `slot`'s new
    text.
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
    """Return the text for the file `slot`, so that the next start tries `new` once."""
    return "%s %s 1" % (old, new)


def load(path: str) -> str:
    """Return the text of a file, or "" if there is no such file."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def save(path: str, text: str) -> None:
    """Write a file so that a power cut leaves either the old or the new text."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def is_service_wanted() -> bool:
    """Return whether a technician holds BOOTSEL or has requested the prompt.

    The file `SERVICE` is the request. It counts once.
    """
    import rp2

    if load(SERVICE):
        os.remove(SERVICE)
        return True
    return bool(rp2.bootsel_button())


def start() -> None:
    """Run the selected firmware, or return so that a technician gets the prompt."""
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
    """Write the error into the file `failed` and restart the chip.

    With `to_prompt`, a technician gets the prompt at the restart.
    """
    import machine

    why = repr(error)
    if load(FAILED) != why:  # Writing the same error again and again would wear out the flash.
        save(FAILED, why)
    if to_prompt:
        save(SERVICE, "1")
    machine.reset()


if __name__ == "__main__":
    start()

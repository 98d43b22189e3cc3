"""/main.py of a chip: which of two firmwares runs, and how a technician gets in.

A firmware lies in the folder `a` or `b`, as the package `firmware`. The file `slot` says which
one runs: `a`; or `a b 1`: b is on trial and has one start left, behind it a runs again. A
firmware that fails is started again, which on trial is the one before; one that cannot even
be loaded leads to the prompt where no other follows. The file `failed` says why.

The file `service`, or the button BOOTSEL held while the chip starts, leads to the prompt once.
Nothing moves there: every pin is as the reset left it.
"""

import os
import sys

SLOTS = ("a", "b")
SLOT = "slot"
SERVICE = "service"
FAILED = "failed"


def choose_slot(state: str) -> "tuple[str, bool, str]":
    """Return the slot that runs now, whether it is on trial, and what `slot` says from now on."""
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
    """Return what `slot` says for one trial of `new`."""
    return "%s %s 1" % (old, new)


def load(path: str) -> str:
    """Return a file's text, "" when there is none."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def save(path: str, text: str) -> None:
    """Write a file so that a cut of the power leaves the old one or the new one."""
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def is_service_wanted() -> bool:
    """Return whether a technician waits for the prompt; the file counts once."""
    import rp2

    if load(SERVICE):
        os.remove(SERVICE)
        return True
    return bool(rp2.bootsel_button())


def start() -> None:
    """Run the firmware that is to run; return where a technician is to have the prompt."""
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
    """Restart the chip, and write down why."""
    import machine

    why = repr(error)
    if load(FAILED) != why:  # the same one again and again would wear the flash out
        save(FAILED, why)
    if to_prompt:
        save(SERVICE, "1")
    machine.reset()


if __name__ == "__main__":
    start()

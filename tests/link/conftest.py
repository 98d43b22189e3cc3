"""What tests of the link share: its two ends and a line between them."""

from tests.link.bad_line import (
    in_virtual_time,
    make_line,
    make_pins,
    make_rig,
    mischiefs,
    nothing_is_raised_unseen,
    run_firmware,
)

__all__ = [
    "in_virtual_time",
    "make_line",
    "make_pins",
    "make_rig",
    "mischiefs",
    "nothing_is_raised_unseen",
    "run_firmware",
]

"""Firmware onto a board: beside the old one, proved by its hashes and its own voice, then alone.

image: what is to be put there · prompt: MicroPython's prompt, by mpremote · greeting: the board's
own firmware, asked who it is · slots: where files lie on the chip · flashing: the steps.
chip/ is what lies at the root of a chip.
"""

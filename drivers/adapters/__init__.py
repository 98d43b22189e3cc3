"""Programs that stand in a board's place, so that parts people can buy move and read the cards.

Each runs the firmware's own core on a pty that speaks PROTOCOL.md (shell.py), with a HAL that
drives bought parts instead of pins: a serial barcode engine (barcode.py), motor controllers.
What they cannot promise they say at their start; deploy/THREATS.md says what that means.
"""

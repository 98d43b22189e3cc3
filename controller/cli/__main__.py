"""The command `python -m controller.cli`, which other programs use to start `dealtable`."""

from controller.cli import main

main(prog_name="dealtable")

"""`python -m controller.cli`: the same as `dealtable`, for processes that start child processes."""

from controller.cli import main

main(prog_name="dealtable")

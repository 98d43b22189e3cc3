"""`python -m controller.cli`: the same as `dealtable`, for processes that start their own kind."""

from controller.cli import main

main(prog_name="dealtable")

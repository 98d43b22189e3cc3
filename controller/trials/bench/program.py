"""What the command line costs before it does anything."""

import subprocess
import sys

from controller.trials.bench.registry import timed_figure


def _python_alone() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


@timed_figure("help", floor=_python_alone, documented=4.0, aim=8.0)
def show_help() -> None:
    """The command line's help, against an interpreter that does nothing."""
    subprocess.run(
        [sys.executable, "-c", "from controller.cli import main; main(['--help'])"],
        check=True,
        stdout=subprocess.DEVNULL,
    )

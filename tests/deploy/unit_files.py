"""The folder of the units of systemd."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "deploy" / "units"

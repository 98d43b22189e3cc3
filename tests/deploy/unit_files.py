"""Where the units of systemd lie."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "deploy" / "units"

"""Matches that an event's own regulations make short, played with fast mechanics."""

from pathlib import Path

SPEED = 1000.0


def event_file(folder: Path, name: str, settled: str) -> Path:
    """Write the regulations of an event that plays by the rulebook `name`."""
    event = folder / "event.toml"
    about = f'profile = "{name}"\ntitle_en = "Cup"\ntitle_zh = "杯赛"\norganizer = "Club"\n'
    event.write_text(about + settled + "\n", encoding="utf-8")
    return event

"""Profiles with a line changed, as a person might write them."""

from importlib import resources
from pathlib import Path

from controller.rules.profile import Profile
from controller.rules.profile_files import read_profile

NAME = "international-000"

ABOUT_EVENT = 'title_en = "Cup"\ntitle_zh = "杯"\norganizer = "Club"\n'


def text_of(name: str) -> str:
    file = resources.files("controller.rules") / "profiles" / f"{name}.toml"
    return file.read_text(encoding="utf-8")


def changed(old: str, new: str, name: str = NAME) -> Profile:
    """The profile with one piece of its file changed."""
    text = text_of(name)
    assert text.count(old) == 1, f"{old}: {text.count(old)} times in {name}"
    return read_profile(text.replace(old, new), f"{name}.toml")


def event_file(folder: Path, rules: str, profile: str = NAME) -> Path:
    """An event's file that settles these rules of a profile."""
    file = folder / "event.toml"
    file.write_text(f'profile = "{profile}"\n{ABOUT_EVENT}{rules}', encoding="utf-8")
    return file

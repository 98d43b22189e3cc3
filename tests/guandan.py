"""The profiles of Guandan alone, as their own type."""

from pathlib import Path

from controller.rules.profile import GuandanProfile
from controller.rules.profile_files import ProfileError, load_profile


def load_guandan(name: str, event: Path | None = None) -> GuandanProfile:
    """Return the Guandan profile called `name`, with the rules that the file `event` changes.

    Raises ProfileError, also for a profile of Big Two.
    """
    profile = load_profile(name, event)
    if not isinstance(profile, GuandanProfile):
        raise ProfileError(f'profile "{name}": expected a rulebook of Guandan')
    return profile

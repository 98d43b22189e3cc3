"""The rulebooks that a commitment's hash can be looked up in: ours, and an event's own."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from controller import tomlfile
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.rules.rulebooks import ProfileError, load_profile


class Rulebooks:
    """Every profile of this program, and each as the files in `events` settle it.

    Raises ProfileError, one line, for a file that is no event's.
    """

    def __init__(self, events: Sequence[Path] = ()) -> None:
        settled = [load_profile(_profile_of(event), event) for event in events]
        self._settled = {profile_hash(profile): profile for profile in settled}

    def find(self, name: str, hashed: bytes) -> Profile | None:
        """Return the profile of that hash; None for rules that are not here any more, or not yet.

        `name` is the profile's, or the one that an event's rules were made from.
        """
        ours = _ours(name)
        if ours is not None and ours[1] == hashed:
            return ours[0]
        return self._settled.get(hashed)


def _profile_of(event: Path) -> str:
    """Return the name of the profile that an event's file says it is for. Raises ProfileError."""
    text = tomlfile.text_of(event, ProfileError)
    return str(tomlfile.tables(text, ProfileError, name=str(event)).get("profile", ""))


@cache
def _ours(name: str) -> tuple[Profile, bytes] | None:
    """Return the program's own profile of that name and its hash, which takes a while."""
    try:
        profile = load_profile(name)
    except ProfileError:
        return None
    return profile, profile_hash(profile)

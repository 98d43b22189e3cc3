"""The rulebooks that a commitment's hash can be looked up in: ours, and an event's own."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from controller import tomlfile
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.rules.rulebooks import ProfileError, load_profile, profile_names


class ProfilesByHash:
    """Every profile of this program, and each as the files in `events` settle it.

    Raises ProfileError, one line, for a file that is no event's.
    """

    def __init__(self, events: Sequence[Path] = ()) -> None:
        settled = [load_profile(_profile_name_in(event), event) for event in events]
        self._event_profiles = {profile_hash(profile): profile for profile in settled}

    def find(self, hashed: bytes) -> Profile | None:
        """Return the profile of that hash; None for rules that are not here any more, or not yet.

        Whatever name they are given: the hash alone is bound by the commitment.
        """
        settled = self._event_profiles.get(hashed)
        return _own_profiles_by_hash().get(hashed) if settled is None else settled


def _profile_name_in(event: Path) -> str:
    """Return the name of the profile that an event's file says it is for. Raises ProfileError."""
    text = tomlfile.read_text(event, ProfileError)
    return str(tomlfile.parse_tables(text, ProfileError, name=str(event)).get("profile", ""))


@cache
def _own_profiles_by_hash() -> dict[bytes, Profile]:
    """Return the program's own profiles by their hashes, which takes a while."""
    return {profile_hash(profile): profile for profile in map(load_profile, profile_names())}

"""Loading of the rulebook that a table's configuration names."""

from controller.config import TableConfig
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile


def load_table_profile(config: TableConfig) -> Profile:
    """Return the profile of a table, including its event's own regulations if there are any.

    Raises ProfileError with one line that names the file.
    """
    return load_profile(config.table.profile, config.table.event)

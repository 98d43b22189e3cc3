"""What can be wrong with a journal; each message is one line for a person."""


class JournalError(Exception):
    """The journal cannot be used: a foreign or damaged file, a broken chain, a second writer."""


class StorageFailed(JournalError):
    """The disk refused a write. Nothing after the last commit is kept; only a restart helps."""


class PrivateEntry(JournalError):
    """A private entry was about to leave through the public view."""

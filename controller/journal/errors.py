"""What can be wrong with a journal; each message is one line for a person."""

from controller.tomlwords import escape_unprintable


class JournalError(Exception):
    """The journal cannot be used: a foreign or damaged file, a broken chain, a second writer."""

    def __init__(self, text: str) -> None:
        """Keep the text as one line; some of it may be a damaged file's or a database's words."""
        super().__init__(escape_unprintable(text))


class StorageFailed(JournalError):
    """The disk refused a write or a read.

    Nothing after the last commit is kept; only opening the journal again helps.
    """


class PrivateEntryError(JournalError):
    """A private entry was about to leave through the public view."""

"""Text for people, in both languages of a hall."""

import msgspec


class Words(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The same in English and in Chinese; in a data file a list of the two."""

    en: str
    zh: str

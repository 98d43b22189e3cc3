"""Structs that take most of their fields from other structs."""

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


def fill_struct(kind: type[S], *sources: msgspec.Struct, **values: Any) -> S:
    """Return a struct of `kind` with these `values`, and with all other fields from `sources`.

    A source gives the fields that have the same name in both structs. The last source that has a
    field is used.
    """
    shared = {
        name: getattr(source, name)
        for source in sources
        for name in source.__struct_fields__
        if name in kind.__struct_fields__ and name not in values
    }
    return kind(**shared, **values)

"""Structs that take most of their fields from other structs."""

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


def fill_struct(kind: type[S], /, *sources: msgspec.Struct, **values: Any) -> S:
    """Return a struct of `kind` with these `values`, and with all other fields from `sources`.

    A source gives the fields that have the same name in both structs. The last source that has a
    field is used. A value of type Words fills the fields `NAME_en` and `NAME_zh`, if there are any.
    """
    for name in [name for name in values if f"{name}_en" in kind.__struct_fields__]:
        words = values.pop(name)
        values |= {f"{name}_en": words.en, f"{name}_zh": words.zh}
    shared = {
        name: getattr(source, name)
        for source in sources
        for name in source.__struct_fields__
        if name in kind.__struct_fields__ and name not in values
    }
    return kind(**shared, **values)

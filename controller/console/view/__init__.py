"""Pure functions that make page contents from public states, without clock, socket or database."""

from functools import cache
from typing import Any, TypeVar

import msgspec

from controller.words import Words

S = TypeVar("S", bound=msgspec.Struct)


def fill_struct(kind: type[S], /, *sources: msgspec.Struct, **values: Any) -> S:
    """Return a struct of type `kind`, with the fields in `values`, and others from `sources`.

    A field is copied from a source that has a field of the same name, and from the last of several
    such sources. A value of type Words fills two fields: its name with _en and with _zh.
    """
    fields = {
        name: getattr(source, name)
        for source in sources
        for name in _shared_names(type(source), kind)
    }
    for name, value in values.items():
        if isinstance(value, Words) and f"{name}_en" in kind.__struct_fields__:
            fields |= {f"{name}_en": value.en, f"{name}_zh": value.zh}
        else:
            fields[name] = value
    return kind(**fields)


@cache
def _shared_names(source: type[msgspec.Struct], kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(name for name in source.__struct_fields__ if name in kind.__struct_fields__)

"""What the types of the profiles allow: the choices of every key that has some."""

from collections.abc import Iterator
from functools import cache

from msgspec import inspect

from controller.rules.profile import KEYS_ABOUT_PROFILE, BigTwoProfile, GuandanProfile


def choices_of(key: str) -> frozenset[str]:
    return all_choices().get(key, frozenset())


@cache
def all_choices() -> dict[str, frozenset[str]]:
    """Every key with a closed set of words, also within a list."""
    found = {}
    for shape in (GuandanProfile, BigTwoProfile):
        kind = inspect.type_info(shape)
        assert isinstance(kind, inspect.StructType)
        for key, of in leaves(kind):
            if words := frozenset(literals(of)):
                found[key] = words
    return found


def leaves(kind: inspect.StructType, above: str = "") -> Iterator[tuple[str, inspect.Type]]:
    for field in kind.fields:
        if not above and field.name in KEYS_ABOUT_PROFILE:
            continue
        if isinstance(field.type, inspect.StructType):
            yield from leaves(field.type, f"{above}{field.name}.")
        else:
            yield above + field.name, field.type


def literals(kind: inspect.Type) -> Iterator[str]:
    match kind:
        case inspect.LiteralType(values=values):
            yield from map(str, values)
        case inspect.Metadata(type=inner):
            yield from literals(inner)
        case inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            yield from literals(inner)
        case inspect.TupleType(item_types=inner) | inspect.UnionType(types=inner):
            for part in inner:
                yield from literals(part)

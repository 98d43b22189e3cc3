"""A person who chose Chinese reads of wrong arguments in Chinese, whatever is wrong with them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import inspect

from controller.cards import FACE_COUNT, face_text
from controller.commands.registry import COMMANDS, BadArgs, parse_args
from controller.host.toml_files import inner_type
from controller.machine.commands.command_request import failure
from tests.commands.examples import example
from tests.commands.test_commands import BAD
from tests.rows import each_row

WRONG: tuple[Any, ...] = (None, True, -1, 10**15, 1.5, "", "qqqq\n", "q" * 300, [], ["qqqq"], {})
CODES = {"JAM", "R1"}
"""Examples of what a closed set names or a machine counts, which are the same in both languages."""
FACES_AS_TEXT = {"SK", *map(face_text, range(FACE_COUNT))}
LATIN = re.compile("[A-Za-z_]{2,}")


def shape_of(cmd: str) -> inspect.StructType:
    shape = inspect.type_info(COMMANDS[cmd].args)
    assert isinstance(shape, inspect.StructType)
    return shape


def spoilt(shape: inspect.Type, right: Any) -> Iterator[Any]:
    """Yield values that are not all of a type: others, and its own with a part that is wrong."""
    yield from WRONG
    yield {"qqqq": 1}
    shape = inner_type(shape)
    if isinstance(shape, inspect.StructType):
        held = right if isinstance(right, dict) else {}
        yield {**held, "qqqq": 1}
        for field in shape.fields:
            yield {**held, f"{field.name}q": 1}
            yield {name: value for name, value in held.items() if name != field.name}
            for value in spoilt(field.type, held.get(field.name)):
                yield {**held, field.name: value}
    elif isinstance(shape, inspect.DictType) and isinstance(right, dict):
        for name, value in right.items():
            yield from ({**right, name: other} for other in spoilt(shape.value_type, value))
    elif isinstance(shape, inspect.VarTupleType) and isinstance(right, list):
        yield from ([*right, value] for value in spoilt(shape.item_type, None))


def named(shape: inspect.Type) -> Iterator[str]:
    """Yield the keys of a type, and the values that it enumerates."""
    shape = inner_type(shape)
    if isinstance(shape, inspect.StructType):
        for field in shape.fields:
            yield field.name
            yield from named(field.type)
    elif isinstance(shape, inspect.LiteralType):
        yield from map(str, shape.values)
    elif isinstance(shape, inspect.EnumType):
        yield from (each.value for each in shape.cls)
    elif isinstance(shape, inspect.BoolType):
        yield from ("true", "false")
    elif isinstance(shape, inspect.VarTupleType):
        yield from named(shape.item_type)


def refused(cmd: str, args: dict[str, Any]) -> BadArgs | None:
    try:
        parse_args(cmd, args)
    except BadArgs as bad:
        return bad
    return None


def foreign(cmd: str, bad: BadArgs, typed: Iterable[str] = ()) -> set[str]:
    """The Latin words of a refusal that are no names, values or cards of a command."""
    found = bad.found.zh.partition(" = ")[0]  # what stands behind it is as it was typed
    words = set(LATIN.findall(f"{found} {bad.expected.zh}"))
    return words - {cmd, *COMMANDS, *named(shape_of(cmd)), *FACES_AS_TEXT, *CODES, *typed}


@each_row("cmd", COMMANDS)
def test_no_wrong_argument_of_a_command_is_told_in_english(cmd: str) -> None:
    at = set[str]()
    for args in spoilt(shape_of(cmd), example(cmd)):
        bad = refused(cmd, args) if isinstance(args, dict) else None
        if bad is not None:
            odd = {word for word in foreign(cmd, bad) if not word.endswith("q")}  # typed here
            assert not odd, bad.found.zh
            at |= set(re.findall(r"\w+", bad.found.zh, re.ASCII))
    assert set(COMMANDS[cmd].args.__struct_fields__) <= at


@each_row(("cmd", "args"), [(cmd, args) for cmd, args, _, _ in BAD])
def test_what_does_not_go_together_is_told_in_chinese(cmd: str, args: dict[str, Any]) -> None:
    bad = refused(cmd, args)
    assert bad is not None
    assert not foreign(cmd, bad, args)


@each_row(
    ("cmd", "args", "told"),
    [
        ("propose", {"offence": "late", "seat": "Q"}, '席位："N"、"W"、"S" 或 "E"'),
        ("propose", {"offence": "late"}, "side 与 seat 均未写，应为其中之一"),
        ("add_time", {"seconds": "abc"}, 'seconds = "abc"，应为0至36000的秒数'),
        ("cut_by_hand", {"n": "abc"}, 'n = "abc"，应为张数，多数规则为6至102'),
        ("result", {"order": "N"}, 'order = "N"，应为席位列表，按出完的先后'),
        ("cut", {"sear": "N"}, 'sear：没有此项，应为"seat"'),
        ("hold", {"x": 1}, "x：没有此项，应为reason、area 之一"),
        ("release", {"x": 1}, "x：没有此项，应为空"),
        ("hold", {}, "reason：未写，应为一行文字，1至200个字符"),
    ],
)
def test_a_refusal_in_chinese_is_a_whole_sentence(
    cmd: str, args: dict[str, Any], told: str
) -> None:
    bad = refused(cmd, args)
    assert bad is not None
    why = failure("BAD_COMMAND", found=bad.found, expected=bad.expected)
    assert why.message_zh.endswith(told)


def test_what_was_typed_is_data_where_a_refusal_names_it() -> None:
    bad = refused("add_time", {"seconds": "abc"})
    assert bad is not None
    why = failure("BAD_COMMAND", found=bad.found, expected=bad.expected)
    assert why.found == 'seconds = "abc"'

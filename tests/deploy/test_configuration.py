"""deploy/CONFIGURATION.md has every key, and the examples have the same ones."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest
from msgspec import inspect

from controller.cli.adapter_files import load_barcode_file
from controller.config import load_sim, load_table
from controller.console.console_config import load_console_config as load_console
from controller.rules import key_text as rule_keys
from controller.rules.profile import rules_by_key
from controller.rules.profile_files import load_profile
from drivers.firmware import protocol
from drivers.firmware.settings import BoardSettings
from tests.deploy.configuration import PAGE, ROOT, SHAPES, meanings, parts, takes

DEPLOY = ROOT / "deploy"
WHOLE = ("table.toml", "sim.toml", "console.toml", "barcode.toml")
"""Examples in which every key stands, switched off or not."""
OTHERWISE = {
    ("table.toml", "runtime_dir"),  # what it is without being said depends on the table's name
    ("table.toml", "announce"),  # switched off, as the next two: shown with what it is there for
    ("console.toml", "store"),
    ("console.toml", "events"),
    ("console.toml", "name"),  # a hall has one
}
"""What an example shows with another value than the default, at least once."""
_TABLE = re.compile(r"^(?:# )?(\[+[\w.]+\]+)")
_KEY = re.compile(r"^(?:# )?(\w+) = (.+)$")


class Said(NamedTuple):
    """One key of an example, switched off or not."""

    table: str
    key: str
    value: Any
    counts: bool = True


def said_in(text: str) -> list[Said]:
    """Return every key of an example: those that count, and those behind a #."""
    found, table = [], ""
    for line in text.splitlines():
        if heading := _TABLE.match(line):
            table = heading[1]
        elif key := _KEY.match(line):
            value = tomllib.loads(f"it = {key[2]}")["it"]
            found.append(Said(table, key[1], value, not line.startswith("#")))
    return found


def place(kind: type, value: object) -> Path:
    assert kind is Path
    return Path(str(value))


@pytest.mark.parametrize("file", SHAPES)
def test_every_key_has_a_meaning_and_no_other(file: str) -> None:
    told = {
        (name, key)
        for name, keys in meanings()[file].items()
        if isinstance(keys, dict)
        for key in keys
    }
    assert told == {(part.name, field.encode_name) for part in parts(file) for field in part.values}


def test_every_rule_that_an_event_may_settle_has_its_row() -> None:
    section = PAGE.read_text("utf-8").partition("## `event.toml`\n")[2]
    rows = set(re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE))
    assert set(rule_keys.all_keys()) <= rows
    assert set(rule_keys.all_keys()) == set(meanings()["event.toml"]["rules"])
    assert set(rules_by_key(load_profile("international-000"))) <= rows


@pytest.mark.parametrize("file", WHOLE)
def test_an_example_has_every_key_of_its_type_and_no_other(file: str) -> None:
    said = {(one.table, one.key) for one in said_in((DEPLOY / file).read_text("utf-8"))}
    known = {
        (table, field.encode_name)
        for part in parts(file)
        for table in part.places
        for field in part.values
        if (file, field.encode_name) != ("sim.toml", "fault")
    }
    assert {one for one in said if one[0] != "[[fault]]"} == known


@pytest.mark.parametrize("file", WHOLE)
def test_what_an_example_shows_is_the_default_where_there_is_one(file: str) -> None:
    for part in parts(file):
        fields = {field.encode_name: field for field in msgspec.structs.fields(part.shape.cls)}
        for one in said_in((DEPLOY / file).read_text("utf-8")):
            otherwise = (file, one.key) in OTHERWISE and (not one.counts or one.key == "name")
            if one.table not in part.places or otherwise:
                continue
            field = fields[one.key]
            value = msgspec.convert(one.value, field.type, dec_hook=place)
            if not field.required and field.default not in (None, msgspec.NODEFAULT):
                assert (one.table, one.key, value) == (one.table, one.key, field.default)


def test_the_examples_can_be_used_as_they_are() -> None:
    load_table(DEPLOY / "table.toml")
    load_sim(DEPLOY / "sim.toml")
    load_console(DEPLOY / "console.toml")
    load_barcode_file(DEPLOY / "barcode.toml")
    load_profile("international-000", DEPLOY / "event.toml")


@pytest.mark.parametrize(
    ("table", "kind"), [("[dealer]", protocol.KIND_DEALER), ("[reader]", protocol.KIND_READER)]
)
def test_the_settings_of_the_example_are_those_a_board_comes_with(table: str, kind: int) -> None:
    said = said_in((DEPLOY / "table.toml").read_text("utf-8"))
    (pinned,) = (one.value for one in said if (one.table, one.key) == (table, "settings_crc"))
    assert pinned == BoardSettings(kind).crc()


def test_a_key_that_is_switched_off_is_seen() -> None:
    text = '[a]\n# words about it\n# b = 1   # why\nc = "x"\n# [[d]]\n# e = [1]\n'
    off = Said("[a]", "b", 1, counts=False), Said("[[d]]", "e", [1], counts=False)
    assert said_in(text) == [off[0], Said("[a]", "c", "x"), off[1]]


def test_types_within_types_are_found() -> None:
    assert {part.name for part in parts("barcode.toml")} >= {
        "BarcodeCardSection",
        "BarcodeEngineSection",
    }
    top = inspect.type_info(SHAPES["table.toml"])
    assert isinstance(top, inspect.StructType)
    assert {field.encode_name for field in top.fields} <= {
        place.strip("[]") for part in parts("table.toml") for place in part.places
    }


def test_a_list_says_how_long_it_may_be_and_a_choice_of_types_names_both() -> None:
    word = Annotated[int, msgspec.Meta(ge=-32768, le=65535)]
    some = Annotated[tuple[word, ...], msgspec.Meta(min_length=1, max_length=16)]
    assert takes(inspect.type_info(word | some)) == (
        "a whole number from -32768 to 65535, "
        "or a list of 1 to 16 values, each a whole number from -32768 to 65535"
    )
    five = Annotated[tuple[float, ...], msgspec.Meta(min_length=5, max_length=5)]
    assert takes(inspect.type_info(five)) == "a list of 5 values, each a number"

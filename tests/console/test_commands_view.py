"""The forms of the commands, as pages get them: nothing that a table takes is missing."""

import msgspec
import pytest

from controller.commands.registry import COMMANDS
from controller.console.view.command_forms import ARGUMENT_NAMES, ArgumentView, command_forms
from controller.messages import Role
from controller.words import COMMAND_WORDS as CALLED


def argument(cmd: str, name: str) -> ArgumentView:
    (found,) = [one for one in command_forms()[cmd].args if one.name == name]
    return found


def test_every_command_has_its_roles_its_words_and_all_its_arguments(
    subtests: pytest.Subtests,
) -> None:
    for cmd in sorted(COMMANDS):
        with subtests.test(cmd=cmd):
            view, order = command_forms()[cmd], COMMANDS[cmd]
            assert set(view.roles) == order.roles
            assert (view.signed, view.bound) == (order.signed, order.bound_to)
            assert cmd in CALLED
            assert any(char > "\u2fff" for char in view.does_zh)
            assert not any(char > "\u2fff" for char in view.does_en + view.label_en)
            fields = {field.encode_name: field for field in msgspec.structs.fields(order.args)}
            assert {one.name for one in view.args} == fields.keys() <= ARGUMENT_NAMES.keys()
            for one in view.args:
                assert one.required == fields[one.name].required
                assert (one.kind == "choice") == (one.choices is not None)


@pytest.mark.parametrize(
    ("cmd", "name", "kind"),
    [
        ("out", "seat", "seat"),
        ("forfeit", "side", "side"),
        ("hold", "reason", "text"),
        ("add_time", "seconds", "int"),
        ("hold", "area", "bool"),
        ("recount", "counts", "counts"),
        ("result", "order", "order"),
        ("adjust", "choice", "choice"),
        ("tribute", "card", "card"),
        ("set_match", "pairs", "pairs"),
        ("configure", "settings", "object"),
    ],
)
def test_an_argument_is_of_the_kind_that_its_field_in_a_form_is(
    cmd: str, name: str, kind: str
) -> None:
    assert argument(cmd, name).kind == kind


def test_bounds_defaults_and_choices_are_the_tables_own() -> None:
    assert (argument("cut", "n").min, argument("cut", "n").max) == (1, 107)
    assert (argument("hold", "reason").min, argument("hold", "reason").max) == (1, 200)
    assert argument("adjust", "choice").choices == ["from_now", "void_later", "stand"]
    assert argument("adjust", "choice").default == "from_now"
    assert argument("offers", "role").choices == [role.value for role in Role]
    assert msgspec.json.encode(command_forms())

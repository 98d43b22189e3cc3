"""The forms of all commands. Each argument has a label in English and Chinese, and an input."""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from controller.commands.argument_values import CountsForSeats
from controller.commands.match_arguments import PairDetailsBySide
from controller.commands.registry import COMMANDS, BoundTo, CommandSpec
from controller.console.view import fill_struct
from controller.console.view.phrases import name_of
from controller.messages import Role
from controller.words import COMMAND_WORDS, Words

ARGUMENT_NAMES: Final[Mapping[str, Words]] = {
    "since": Words("after entry", "自条目"),
    "part": Words("part", "第几部分"),
    "parts": Words("number of parts", "共几部分"),
    "offence": Words("offence", "违规情形"),
    "side": Words("side", "哪一方"),
    "seat": Words("seat", "座位"),
    "person": Words("person", "姓名"),
    "deal": Words("deal", "第几副"),
    "offence_ms": Words("when, by the table's clock (ms)", "发生时刻（毫秒）"),
    "pointed_out_by": Words("pointed out by", "由谁指出"),
    "pointed_out_when": Words("pointed out when", "何时指出"),
    "outsider_first": Words("an outsider mentioned it first", "局外人先提及"),
    "acted_first": Words("acted before reporting it", "未申告先动作"),
    "exploited": Words("the advantage was used", "已利用该情形获利"),
    "lapse_disputed": Words("it is disputed whether the claim is late", "申告是否逾期有争议"),
    "settled_by_players": Words("settled by the players", "选手已自行处理"),
    "harmed": Words("the other side was harmed", "已损害对方"),
    "kind": Words("kind", "类别"),
    "step": Words("overrun number", "第几次超时"),
    "cmd": Words("command", "命令"),
    "args": Words("its arguments", "命令内容"),
    "role": Words("role", "角色"),
    "n": Words("cards off the top", "切牌张数"),
    "reason": Words("reason", "理由"),
    "yes": Words("yes", "是"),
    "payer": Words("payer of the tribute", "收谁的贡牌"),
    "match_id": Words("id of the match", "对局编号"),
    "event": Words("event", "赛事"),
    "round": Words("round", "轮次"),
    "match_no": Words("match number", "局次"),
    "table_no": Words("table number", "台号"),
    "stage": Words("stage", "赛制阶段"),
    "pairs": Words("pairs", "双方"),
    "record": Words("earlier penalties", "既往判罚"),
    "uncut": Words("without a cut", "不切牌"),
    "area": Words("the whole area", "全区"),
    "verbal": Words("the chief decided orally", "裁判长口头裁定"),
    "by": Words("the chief who decided orally", "作出口头裁定的裁判长"),
    "counts": Words("cards in each hand", "各家张数"),
    "found": Words("a card was found elsewhere", "在别处找到牌张"),
    "set": Words("set of cards", "哪套牌"),
    "back": Words("back", "牌背"),
    "cards": Words("cards counted", "清点张数"),
    "card": Words("card", "牌张"),
    "other": Words("the other payer's card", "另一家所贡之牌"),
    "stands": Words("anti-tribute applies", "抗贡成立"),
    "order": Words("order of going out", "出完次序"),
    "ended_ms": Words("last card played, by the table's clock (ms)", "打完时刻（毫秒）"),
    "left": Words("cards left", "剩余张数"),
    "seconds": Words("seconds", "秒数"),
    "penalty": Words("penalty", "判罚"),
    "id": Words("name of the ruling", "裁定编号"),
    "ruling": Words("ruling", "裁定"),
    "correction": Words("correction, by its row on the sheet", "更正（记分表第几行）"),
    "choice": Words("the later deals", "其后各副如何处理"),
    "turned_to": Words("who got the turned-up card", "翻牌归谁"),
    "turned_up": Words("turned-up card", "翻出的牌"),
    "table": Words("to which table", "转往哪台"),
    "head": Words("head of that table's journal", "该台日志链首"),
    "digest": Words("digest", "摘要"),
    "verify": Words("key of that table", "该台公钥"),
    "sig": Words("signature", "签名值"),
    "text": Words("text", "内容"),
    "signer": Words("signs as", "以何身份签名"),
    "version": Words("version of the sheet", "记分表版本"),
    "code": Words("fault", "故障"),
    "board": Words("board", "控制板"),
    "settings": Words("settings", "设置"),
    "phase": Words("phase for which it is meant", "所针对的阶段"),
}

ArgumentKind = Literal[
    "seat", "side", "text", "int", "bool", "counts", "order", "choice", "card", "pairs", "object"
]


class ArgumentView(msgspec.Struct, frozen=True, kw_only=True):
    """An argument of a command, as the command's form shows it.

    `min`, `max`: the limits of a number, or of the length of a text.
    """

    name: str
    kind: ArgumentKind
    required: bool
    default: Any = None
    choices: list[str] | None = None
    min: int | None = None
    max: int | None = None
    words_en: str
    words_zh: str


class CommandFormView(msgspec.Struct, frozen=True, kw_only=True):
    """The form with which a person sends one command: its button, effect, roles and arguments.

    `label_*`: the text of its button. `does_*`: one line about its effect.
    """

    roles: list[Role]
    signed: bool
    bound: BoundTo
    label_en: str
    label_zh: str
    does_en: str
    does_zh: str
    args: list[ArgumentView]


@cache
def command_forms() -> Mapping[str, CommandFormView]:
    """Return the form of each command by the command's name."""
    return {cmd: _command_form(cmd, command) for cmd, command in COMMANDS.items()}


def _command_form(cmd: str, command: CommandSpec) -> CommandFormView:
    label, annotations = name_of(COMMAND_WORDS, cmd), get_type_hints(command.args)
    has_chinese = any(char > "\u2fff" for char in command.help)
    shape = inspect.type_info(command.args)
    assert isinstance(shape, inspect.StructType)
    return fill_struct(
        CommandFormView,
        roles=[role for role in Role if role in command.roles],
        signed=command.signed,
        bound=command.bound_to,
        label=label,
        does_en=command.help.partition(" (")[0] if has_chinese else command.help,
        does_zh=label.zh,
        args=[_argument_view(field, annotations[field.name]) for field in shape.fields],
    )


def _argument_view(field: inspect.Field, annotation: Any) -> ArgumentView:
    shape, meta = _unwrapped(field.type)
    kind = _kind(shape, meta)
    default = None if field.default is msgspec.NODEFAULT else msgspec.to_builtins(field.default)
    return fill_struct(
        ArgumentView,
        name=field.encode_name,
        kind=kind,
        required=field.required,
        default=default,
        choices=_choices(annotation) if kind == "choice" else None,
        min=_limit(shape, "ge", "min_length"),
        max=_limit(shape, "le", "max_length"),
        words=name_of(ARGUMENT_NAMES, field.encode_name),
    )


def _choices(annotation: Any) -> list[str]:
    """Return the values of the Enum and Literal types in an annotation, in their declared order."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(one.value) for one in annotation]
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [value for part in get_args(annotation) for value in _choices(part)]


def _unwrapped(shape: inspect.Type) -> tuple[inspect.Type, Mapping[str, Any]]:
    """Return a type without `| None` and without metadata, and the JSON schema in the metadata."""
    meta: Mapping[str, Any] = {}
    while True:
        if isinstance(shape, inspect.Metadata):
            meta = {**(shape.extra_json_schema or {}), **meta}
            shape = shape.type
        elif isinstance(shape, inspect.UnionType):
            rest = [one for one in shape.types if not isinstance(one, inspect.NoneType)]
            if len(rest) != 1:
                return shape, meta
            shape = rest[0]
        else:
            return shape, meta


def _kind(shape: inspect.Type, meta: Mapping[str, Any]) -> ArgumentKind:
    title = meta.get("title")
    if title in ("seat", "side"):
        return "seat" if title == "seat" else "side"
    if isinstance(shape, inspect.StructType):
        return _KIND_BY_STRUCT.get(shape.cls, "object")
    if isinstance(shape, inspect.StrType):
        return "card" if "a card, as" in str(meta.get("description", "")) else "text"
    if isinstance(shape, inspect.VarTupleType):
        _, of_one = _unwrapped(shape.item_type)
        return "order" if of_one.get("title") == "seat" else "object"
    return _KIND_BY_TYPE.get(type(shape), "object")


def _limit(shape: inspect.Type, of_number: str, of_text: str) -> int | None:
    name = of_number if isinstance(shape, inspect.IntType) else of_text
    found = getattr(shape, name, None)
    return found if isinstance(found, int) else None


_KIND_BY_TYPE: Final[Mapping[type, ArgumentKind]] = {
    inspect.LiteralType: "choice",
    inspect.EnumType: "choice",
    inspect.BoolType: "bool",
    inspect.IntType: "int",
}
_KIND_BY_STRUCT: Final[Mapping[type, ArgumentKind]] = {
    CountsForSeats: "counts",
    PairDetailsBySide: "pairs",
}

"""`dealtable send`: one signed command to a table, and its answer."""

import asyncio
import difflib
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from msgspec import inspect

from controller.cards import composition, face_text, parse_face
from controller.cli import CliError
from controller.cli.command_help import (
    OFFENCE_ARGUMENT,
    argument_fields,
    describe_command,
    describe_unknown_command,
    format_command_list,
)
from controller.cli.options import FOLDER, language_option
from controller.cli.state_lines import LINE_STATES_ZH
from controller.cli.table_access import new_command_id, read_client_identity, read_table_endpoints
from controller.client.client import REPLY_TIMEOUT_S, Client, NoAnswer
from controller.client.connection import BadAddress
from controller.commands.argument_values import CardName
from controller.commands.registry import COMMANDS, CommandSpec
from controller.commands.table_arguments import NoArgs
from controller.faults import Language
from controller.host.printable_text import safe_json, safe_line
from controller.host.toml_files import inner_type, without_none
from controller.messages import CommandReply, MachinePhase, PersonName, Role
from controller.roster import CLIENTS_FOLDER
from controller.rules.combos.card_tokens import NotationError
from controller.rules.combos.play_notation import parse_play
from controller.rules.penalties.offences import offence_catalogue
from controller.words import Words

_NO_COMMAND: Final = Words(
    "Missing argument 'CMD': --help lists the commands", "缺少命令：--help 列出全部命令"
)
_NO_STATE_DIR: Final = Words(
    "Missing option '--state-dir': where the table's keys are",
    "缺少 --state-dir：本台密钥所在的目录",
)
_NAME_KEY_IF_NEWER: Final = Words(
    "if this table has it, name the signing key with --as ROLE",
    "若本台有此命令，请用 --as ROLE 说明用谁的密钥签名",
)
_CARD_TYPE: Final = inspect.type_info(CardName)
_DECK: Final = composition(2, jokers=True)

_UNKNOWN_COMMAND: Final = CommandSpec(
    frozenset(Role), frozenset(MachinePhase), True, "none", NoArgs, "not known here"
)
"""The declaration of a command that this program does not have. It is sent signed."""

EXAMPLES: Final = """\b
Examples:
  dealtable send snapshot --state-dir state
  dealtable send start_deal --as referee --state-dir state
  dealtable send cut n=40 --as table --state-dir state
  dealtable send release --as referee --deal 3 --attempt 7 --state-dir state
  dealtable send events since=0 --json --state-dir state
  dealtable send --about recount

"""


@click.command(epilog=EXAMPLES + format_command_list())
@click.argument("cmd", required=False)
@click.argument("args", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--as",
    "name",
    metavar="ROLE",
    help="Whose key: table, referee, chief, technician, or any file of clients/. "
    "[default: observer for reading]",
)
@click.option(
    "--state-dir",
    type=FOLDER,
    help="The table's state directory, which has the table's address and the keys.",
)
@click.option("--deal", type=int, help="The deal meant.  [default: the present one]")
@click.option(
    "--attempt",
    type=int,
    help="The attempt meant, by the table's own number.  [default: the present one]",
)
@click.option("--person", metavar="NAME", help="Who gives it, where several people have the key.")
@click.option(
    "--answer-s",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    metavar="SECONDS",
    default=REPLY_TIMEOUT_S,
    show_default=True,
    help="How long to wait for an answer.",
)
@click.option(
    "--about", "asked", metavar="CMD", help="Say what a command takes and who may give it."
)
@click.option("--json", "as_json", is_flag=True, help="Print the reply as the table sent it.")
@language_option("a refusal, and of what is typed wrongly")
def command(
    cmd: str | None,
    args: tuple[str, ...],
    name: str | None,
    state_dir: Path | None,
    deal: int | None,
    attempt: int | None,
    person: str | None,
    answer_s: float,
    asked: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Send one command to a table and print its answer.

    A VALUE is read as JSON if it is valid JSON (40, true, {"N":27}), and as text otherwise. A list
    may be written N,W,S. A card is written as for `judge` (♠5, 10H, 大王), an offence by its id or
    its name. Exit 0: the table executed it; 1: it refused or did not answer.
    """
    if asked is not None:
        click.echo(describe_command(asked, language))
        return
    if cmd is None:
        raise click.UsageError(getattr(_NO_COMMAND, language))
    if state_dir is None:
        raise click.UsageError(getattr(_NO_STATE_DIR, language))
    if name is None:
        _require_signer(cmd, language)
    values, asked_for = parse_arguments(cmd, args, language), cmd
    check_person(person, language)
    endpoints = read_table_endpoints(state_dir)
    name = name or Role.OBSERVER
    _require_client_key(state_dir, name, language)
    identity = read_client_identity(state_dir, name)

    async def ask() -> CommandReply:
        async with Client(endpoints, identity, new_command_id) as client:
            return await ask_about_present(
                client, asked_for, values, deal, attempt, person=person, answer_s=answer_s
            )

    try:
        reply = asyncio.run(ask())
    except NoAnswer as error:
        # in Chinese the connection's state comes first
        stood = f"，{LINE_STATES_ZH[error.state]}" if error.state is not None else ""
        said = f"没有应答{stood}（{error}）" if language == "zh" else f"no answer: {error}"
        click.echo(safe_line(said), err=True)
        sys.exit(1)
    except BadAddress as error:
        raise CliError(str(error)) from None
    print_reply(reply, as_json, language)
    sys.exit(0 if reply.ok else 1)


async def ask_about_present(
    client: Client,
    cmd: str,
    args: Mapping[str, Any],
    deal: int | None = None,
    attempt: int | None = None,
    *,
    person: str | None = None,
    answer_s: float = REPLY_TIMEOUT_S,
) -> CommandReply:
    """Send a command with the numbers of its deal and attempt, and return the table's reply.

    If the command needs a number that is None, the present number is read from a snapshot: the
    machine's for a machine command, the match's for a match command. If the table refuses the
    snapshot, this refusal is returned. `answer_s` is the time limit of each of the two requests.
    Raises NoAnswer.
    """
    bound = COMMANDS.get(cmd, _UNKNOWN_COMMAND).bound_to
    if bound != "none" and (deal is None or attempt is None):
        snapshot = await client.ask("snapshot", timeout_s=answer_s)
        if not snapshot.ok or snapshot.result is None:
            return snapshot
        try:
            present = msgspec.convert(snapshot.result[bound], _PresentDeal)
        except (LookupError, msgspec.ValidationError):
            raise NoAnswer(f"its snapshot has no deal for its {bound}") from None
        deal = present.deal if deal is None else deal
        attempt = present.attempt if attempt is None else attempt
    return await client.ask(
        cmd, args, deal=deal, attempt=attempt, person=person, timeout_s=answer_s
    )


def check_person(person: str | None, language: Language) -> None:
    """Raise click.UsageError unless `person` is None or a valid name of a person."""
    try:
        msgspec.convert(person, PersonName | None)
    except msgspec.ValidationError:
        said = Words(
            f"--person {person!r}: a name is 1 to 40 printable characters without brackets",
            f"--person {person!r}：姓名为1至40个可见字符，不含括号",
        )
        raise click.UsageError(getattr(said, language)) from None


class _PresentDeal(msgspec.Struct):
    deal: int | None
    attempt: int | None


def _require_signer(cmd: str, language: Language) -> None:
    """Raise click.UsageError if `cmd` must be signed, or is unknown: it then needs --as."""
    if (order := COMMANDS.get(cmd)) is None:
        unknown, if_newer = describe_unknown_command(cmd), _NAME_KEY_IF_NEWER
        said = Words(f"{unknown.en} ({if_newer.en})", f"{unknown.zh}（{if_newer.zh}）")
        raise click.UsageError(getattr(said, language))
    if order.signed:
        said = Words(
            f"{cmd} is signed: name the key with --as ROLE",
            f"{cmd} 须签名：请用 --as ROLE 说明用谁的密钥",
        )
        raise click.UsageError(getattr(said, language))


def _require_client_key(state_dir: Path, name: str, language: Language) -> None:
    """Raise CliError unless `state_dir` has the secret key of the client `name`."""
    folder = state_dir / CLIENTS_FOLDER
    if not (folder / f"{name}.key_secret").exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.key_secret")))
        said = Words(
            f"{folder} has no {name}.key_secret: --as takes {there or 'no key here'}",
            f"{folder} 中没有 {name}.key_secret：--as 可用 {there or '（无）'}",
        )
        raise CliError(getattr(said, language))


def _parse_offence(text: str, language: Language) -> str:
    """Return the id of the offence that has `text` as its id or name.

    An unknown id is returned unchanged, so that the table checks it. The part of a name in brackets
    may be left out if the rest is unique. Raises click.UsageError for a text that is only similar
    to a known id or name, and for an unknown text that cannot be an id.
    """
    rows, wanted = offence_catalogue().values(), _normalize_name(text)
    called = {_normalize_name(said): row.id for row in rows for said in (row.id, row.en, row.zh)}
    close = [said for said in called if wanted in (said, said.partition("(")[0])]
    if len(close) == 1:
        return called[close[0]]
    close = close or difflib.get_close_matches(wanted, called)
    if not close and re.fullmatch("[a-z_]+", text):
        return text
    ids = dict.fromkeys(called[said] for said in close)
    meant = [f"{name} ({getattr(offence_catalogue()[name], language)})" for name in ids]
    said = Words(
        f"no offence is called {text!r}: {', '.join(meant) or '--about propose lists them'}",
        f"没有名为 {text!r} 的违例事项：{'、'.join(meant) or '--about propose 列出全部'}",
    )
    raise click.UsageError(getattr(said, language))


def _normalize_name(name: str) -> str:
    """Return `name` in a form for comparison: lower case, half-width, no spaces at brackets."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"\s*([()])\s*", r"\1", plain).strip()


def _parse_card(text: str, language: Language) -> str:
    """Convert a card from the spelling that people use (♠5) to the protocol's spelling (S5).

    Raises click.UsageError unless the text is exactly one card.
    """
    with suppress(ValueError):
        parse_face(text)
        return text
    try:
        play = parse_play(text, None, _DECK)
    except NotationError as error:
        raise click.UsageError(getattr(error.words, language)) from None
    if play.bare != (False,):
        said = Words(
            f"{text!r}: write one card with its suit, such as ♠5",
            f"{text!r}：请写一张牌并写明花色，如 ♠5",
        )
        raise click.UsageError(getattr(said, language))
    return face_text(play.faces[0])


def parse_arguments(cmd: str, args: Sequence[str], language: Language = "en") -> dict[str, Any]:
    """Return the arguments of the command `cmd` by name. `args` are words of the form NAME=VALUE.

    A text argument stays text. An offence may be given by its id, or by its English or Chinese
    name. A card is written as people write it. Raises click.UsageError with a text in `language`.
    """
    fields = argument_fields(COMMANDS.get(cmd, _UNKNOWN_COMMAND).args)
    types = {field.name: without_none(field.type) for field in fields}
    return dict(_parse_argument(arg, types, language) for arg in args)


def print_reply(reply: CommandReply, as_json: bool, language: Language = "en") -> None:
    """Print a reply as JSON, or as text for people: its result, "ok", or a refusal (on stderr).

    A compromised gateway may answer anything, so control characters are escaped.
    """
    if as_json:
        click.echo(safe_json(msgspec.json.encode(reply).decode()))
    elif reply.error is not None:
        error = reply.error
        said = f"refused, {error.code}: {error.message}. {error.action}."
        if language == "zh" and error.message_zh:
            said = f"被拒绝，{error.code}：{error.message_zh}。{error.action_zh}。"
        click.echo(safe_line(said), err=True)
    elif reply.result:
        click.echo(safe_json(msgspec.json.format(msgspec.json.encode(reply.result)).decode()))
    else:
        click.echo("ok")


def _parse_argument(
    word: str, types: Mapping[str, inspect.Type], language: Language
) -> tuple[str, Any]:
    name, equals, text = word.partition("=")
    if not name or not equals:
        said = Words(
            f"{word!r}: an argument is NAME=VALUE", f"{word!r}：参数须写成 NAME=VALUE（名称=值）"
        )
        raise click.UsageError(getattr(said, language))
    kind = inner_type(types.get(name, inspect.AnyType()))
    if name == OFFENCE_ARGUMENT and name in types:
        return name, _parse_offence(text, language)
    if types.get(name) == _CARD_TYPE:
        return name, _parse_card(text, language)
    if isinstance(kind, inspect.StrType):
        return name, text
    try:
        return name, msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return name, text.split(",") if isinstance(kind, inspect.VarTupleType) else text

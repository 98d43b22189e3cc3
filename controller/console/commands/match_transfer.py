"""Transfer of a match (转台): the old table stops the match, and the new table continues it.

The command dispatcher sends every command, in the name of one person. After an interruption, the
same call continues. Executed commands are not sent twice, and a match that has left is only fetched
again.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from controller.console.accounts.account_store import Account
from controller.console.commands.command_dispatcher import CommandDispatcher
from controller.console.commands.command_log import CommandLog, ConsoleCommandRequest
from controller.console.freshness import Freshness
from controller.console.request_error import RequestError
from controller.console.store.archive import Archive
from controller.console.table_snapshots import RunBlocking, Tables
from controller.messages import CommandReply, PublicEvent, PublicState
from controller.signing.signed_commands import BadSignature, check_document
from controller.words import Words

StepStatus = Literal["done", "refused", "unknown"]

_MATCH_BOUNDARY_KINDS: Final = frozenset({"meeting", "taken_over", "transferred"})
_FREE_PHASES: Final = frozenset({"idle", "setup", "signed"})
"""Phases of a match in which its table can take another match."""


class TransferStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a transfer, and its status.

    `en` and `zh` are the reason if a table refused the step.
    """

    step: Literal["transfer", "document", "take_over"]
    table: str
    fate: StepStatus
    part: int = 1
    parts: int = 1
    en: str = ""
    zh: str = ""


class TransferProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a transfer with their status.

    `match` is the id of the match at its new table, or None if a step failed.
    """

    steps: list[TransferStep]
    done: bool = False
    match: str | None = None


class DepartedMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A match that has left the table `table` for the table `to`."""

    table: str
    match: str
    to: str


class TransferTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The table at the other end of a transfer. `en` and `zh` have its number or its match."""

    table: str
    en: str = ""
    zh: str = ""


class TransferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The transfers that are possible to and from one table.

    `left` is a match that has left this table and has not arrived. `tables` are tables that can
    take this table's match. `incoming` are tables from which a match has left for this table.
    """

    left: DepartedMatch | None
    tables: list[TransferTarget]
    incoming: list[TransferTarget]


class TransferRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person's request to transfer a match to the table `to`.

    `by` is the chief who approved the transfer orally, if the person is not the chief.
    """

    id: Annotated[
        str, Meta(pattern=r"^[A-Za-z0-9_.-]{8,50}$", description="8 to 50 letters, digits")
    ]
    to: str
    by: str | None = None


class _StepFailed(Exception):
    """An error for a transfer step that a table refused, or that has no known result."""

    def __init__(self, step: TransferStep) -> None:
        super().__init__(step.en)
        self.step = step


class MatchTransfer:
    """A service that transfers matches between the console's tables.

    `verify_key_of` returns the key (hex) with which a table signs, as people entered it, or None if
    it is unknown. A key that the table's gateway sent is not trusted.
    """

    def __init__(
        self,
        tables: Tables,
        dispatcher: CommandDispatcher,
        command_log: CommandLog,
        archive: Archive,
        read: RunBlocking,
        verify_key_of: Callable[[str], str | None],
        now_ms: Callable[[], int],
    ) -> None:
        self._tables, self._dispatcher, self._command_log = tables, dispatcher, command_log
        self._archive, self._read, self._verify_key_of = archive, read, verify_key_of
        self._now_ms = now_ms

    async def find_options(self, table: str) -> TransferOptions:
        """Return the transfers of matches that are possible now from and to a table.

        They depend on the states of the tables and on the archive.
        """
        here = self._tables.snapshot(table).state
        left = await self._read(lambda: self._departed_match(table))
        states = {one: state for one in self._tables.ids if (state := self._state(one)) is not None}
        idle = [
            one
            for one, state in states.items()
            if one != table and state.match.phase in _FREE_PHASES
        ]
        coming = await self._read(lambda: [self._departed_match(one) for one in idle])
        targets = []
        for one in idle:
            is_live = self._tables.snapshot(one).freshness(self._now_ms())[0] is Freshness.LIVE
            match = states[one].match
            if is_live and here is not None and match.profile == here.match.profile:
                number = match.table_no
                words = ("", "") if number is None else (f"no. {number}", f"台号{number}")
                targets.append(TransferTarget(table=one, en=words[0], zh=words[1]))
        return TransferOptions(
            left=left,
            tables=targets,
            incoming=[
                TransferTarget(table=one.table, en=f"match {one.match}", zh=f"对局{one.match}")
                for one in coming
                if one is not None and one.to == table
            ],
        )

    async def transfer(
        self, person: Account, table: str, request: TransferRequest
    ) -> TransferProgress:
        """Execute the steps of a transfer until one fails, and return the status of these steps.

        A step that was done earlier is not repeated. Raises RequestError.
        """
        verify = self._verify_key_of(table)
        if verify is None:
            raise RequestError(
                409,
                f"the signing key of table {table} is missing: enter its verify key",
                f"控制台没有{table}台的签名公钥：请先填写verify",
            )
        if request.to == table or request.to not in self._tables.ids:
            raise RequestError(
                400, f"there is no other table {request.to}", f"没有另一张{request.to}台"
            )
        word = {} if request.by is None else {"verbal": True, "by": request.by}
        steps: list[TransferStep] = []
        try:
            left = await self._read(lambda: self._departed_match(table))
            step = TransferStep(step="transfer", table=table, fate="done")
            if left is None or left.to != request.to:
                order = f"{request.id}-t"
                known = await self._read(lambda: self._command_log.find(order))
                there = self._state(request.to)
                args = {"table": request.to, "head": there.head if there else None} | word
                if known is not None:
                    args = known.command.args
                wish = ConsoleCommandRequest(id=order, cmd="transfer", args=args)
                _require_result(step, (await self._dispatcher.send(person, table, wish)).reply)
            steps.append(step)
            parts = await self._fetch_document(table, request.to, verify, steps)
            match = await self._hand_over(person, request, parts, {"verify": verify} | word, steps)
        except _StepFailed as stopped:
            return TransferProgress(steps=[*steps, stopped.step])
        return TransferProgress(steps=steps, done=True, match=match)

    async def _fetch_document(
        self, table: str, to: str, verify: str, steps: list[TransferStep]
    ) -> list[dict[str, Any]]:
        """Request all parts of the signed data of the match that left `table`, and return them."""
        parts: list[dict[str, Any]] = []
        count = 1
        while len(parts) < count:
            number = len(parts) + 1
            step = TransferStep(step="document", table=table, fate="done", part=number, parts=count)
            reply = await self._dispatcher.query(table, "document", {"part": number})
            part = _require_result(step, reply)
            if part.get("to") != to:
                raise _StepFailed(_refused_step(step, _WENT_ELSEWHERE))
            _check_signature(step, part, verify)
            parts.append(part)
            count = _part_count(step, part)
        steps.append(
            TransferStep(step="document", table=table, fate="done", part=count, parts=count)
        )
        return parts

    async def _hand_over(
        self,
        person: Account,
        request: TransferRequest,
        parts: Sequence[dict[str, Any]],
        extra_args: dict[str, Any],
        steps: list[TransferStep],
    ) -> str | None:
        """Send all parts of a match's data to the new table, and return the match's id there."""
        match: str | None = None
        for number, part in enumerate(parts, 1):
            step = TransferStep(
                step="take_over", table=request.to, fate="done", part=number, parts=len(parts)
            )
            args = {name: part[name] for name in sorted(_PART_FIELDS)}
            wish = ConsoleCommandRequest(
                id=f"{request.id}-{number}", cmd="take_over", args=args | extra_args
            )
            result = _require_result(
                step, (await self._dispatcher.send(person, request.to, wish)).reply
            )
            steps.append(step)
            match = result.get("match")
        if match is None:
            raise _StepFailed(_refused_step(step, _PARTS_MISSING))
        return match

    def _departed_match(self, table: str) -> DepartedMatch | None:
        """Return a table's last match if it left and no other table has taken it over, or None."""
        n = self._archive.last_number_of(table, _MATCH_BOUNDARY_KINDS)
        gone = self._entry(table, n)
        if gone is None or gone.kind != "transferred":
            return None
        left = DepartedMatch(
            table=table, match=str(gone.data.get("match")), to=str(gone.data.get("to"))
        )
        if left.to not in self._tables.ids:
            return left
        came = self._entry(left.to, self._archive.last_number_of(left.to, {"taken_over"}))
        if came is not None and (came.data.get("table"), came.data.get("n")) == (table, gone.n):
            return None
        return left

    def _entry(self, table: str, n: int) -> PublicEvent | None:
        found = next(iter(self._archive.events(table, n - 1)), None) if n else None
        return found if found is not None and found.n == n else None

    def _state(self, table: str) -> PublicState | None:
        try:
            return self._tables.snapshot(table).state
        except KeyError:
            return None


_MAX_PARTS: Final = 999
_PART_FIELDS: Final = frozenset({"digest", "sig", "part", "parts", "text"})
_WENT_ELSEWHERE: Final = Words(
    "the match was transferred to another table meanwhile", "该对局已转往另一张台"
)
_PARTS_MISSING: Final = Words("the other table lacks parts: try again", "数据未齐，请重试")
_NOT_SIGNED_BY_TABLE: Final = Words(
    "the document is not signed by that table", "数据没有该台的签名"
)


def _require_result(step: TransferStep, reply: CommandReply | None) -> dict[str, Any]:
    """Return the result in `reply`, or raise _StepFailed if `reply` has an error or is None."""
    if reply is None:
        raise _StepFailed(msgspec.structs.replace(step, fate="unknown"))
    if reply.error is not None:
        en = f"{reply.error.message}: {reply.error.action}".removesuffix(": ")
        zh = f"{reply.error.message_zh}：{reply.error.action_zh}".removesuffix("：")
        raise _StepFailed(_refused_step(step, Words(en, zh)))
    return reply.result or {}


def _refused_step(step: TransferStep, why: Words) -> TransferStep:
    return msgspec.structs.replace(step, fate="refused", en=why.en, zh=why.zh)


def _check_signature(step: TransferStep, part: dict[str, Any], verify: str) -> None:
    try:
        check_document(str(part["digest"]), verify, str(part["sig"]))
    except (BadSignature, KeyError):
        raise _StepFailed(_refused_step(step, _NOT_SIGNED_BY_TABLE)) from None


def _part_count(step: TransferStep, part: dict[str, Any]) -> int:
    """Return how many parts a match's data has, or raise _StepFailed if `part` is invalid."""
    count = part.get("parts")
    if not isinstance(count, int) or not part.keys() >= _PART_FIELDS or count > _MAX_PARTS:
        raise _StepFailed(_refused_step(step, _NOT_SIGNED_BY_TABLE))
    return count

"""Matches that leave for another table, and matches that arrive (转台).

Only the chief, or a referee with the chief's spoken decision, may transfer a match. A table first
releases its match and writes that to its journal. Then only the document contains the match. Any
referee may carry it over, until the other table accepts it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from controller.commands.match_arguments import DocumentArgs, TakeOverArgs, TransferArgs
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.entries import check_entry_data
from controller.machine.commands.command_request import (
    AcceptedCommand,
    CommandRefused,
    RequestedCommand,
    failure,
    failure_of,
)
from controller.machine.commands.match_commands import MatchCommands, meeting_data
from controller.machine.public.public_results import copied_fields
from controller.machine.public.score_sheet import count_rows
from controller.machine.state.table_match import TransferredMatch
from controller.machine.table_record import TableRecord, elapsed_ms
from controller.match.match_events import (
    AttemptFailed,
    MatchEvent,
    TableSuspended,
    encode_match_event,
)
from controller.match.match_state import AnyMatch
from controller.match.phase import MatchPhase, phase_words
from controller.match.refusals import RefusedError
from controller.match.rulings import require_authority
from controller.match.transfer_document import (
    TRANSFER_FORMAT,
    PackedDocument,
    TableMove,
    TransferDocument,
    TransferError,
    TransferProof,
    pack_document,
    rebuild_match,
    shift_event,
    state_digest,
    unpack_document,
)
from controller.messages import Failure
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.signing.signed_commands import BadSignature, check_document, sign_document
from controller.words import Words

MAX_DOCUMENTS = 4
"""Incomplete documents that are stored. Another one deletes the oldest, which is sent again."""
MAX_PROOFS = 100
"""Attempts with a commitment in the entry of the arrived match, because an entry is short."""
MAX_MOVES = 20
"""Moves of a match from table to table that are kept for its score sheet."""
TRANSFER_REASON = "transfer"
"""Reason of the suspension that lasts until a referee resumes the match at the other table."""
_ATTEMPT_PHASES = frozenset({MatchPhase.DEALING, MatchPhase.HELD})


class TableTransfers:
    """The handlers of the commands that transfer a match from this table or to this table.

    `is_busy` returns whether an attempt is running or hands are out. `wall_time` returns the
    wall-clock time as text. `table_id` and `table_key` are those of this table. `signing_key` is
    the secret that signs leaving matches. With None nothing is signed, and no table accepts the
    match.
    """

    def __init__(
        self,
        record: TableRecord,
        profile: Profile,
        match_commands: MatchCommands,
        *,
        is_busy: Callable[[], bool],
        table_id: str,
        table_key: str,
        signing_key: bytes | None,
        wall_time: Callable[[], str],
    ) -> None:
        self._record, self._profile, self._match_commands = record, profile, match_commands
        self._is_busy, self._wall_time, self._signing_key = is_busy, wall_time, signing_key
        self._table_id, self._table_key = table_id, table_key
        self._parts: dict[str, dict[int, str]] = {}
        self._packed: tuple[int, PackedDocument] | None = None

    # The match leaves.

    async def transfer_out(self, command: AcceptedCommand) -> None:
        """Record that the match moves to another table; answer with the hash of its document.

        A deal with released hands is continued there. A deal that has not begun is due there again.
        A match that left and did not arrive may be sent to a third table. Raises CommandRefused.
        """
        args: TransferArgs = command.args
        match, play = self.require_leaving(command.request), self._record.match_written
        if play.match is not None:
            self._suspend_match(match)
        if play.match is not None or play.transferred is None or play.transferred.to != args.table:
            said = {"match": match.meeting.match_id, "to": args.table, "to_head": args.head}
            deal = match.deal or None
            by = _decision_names(command)
            self._record.write("transferred", said | by, deal=deal, attempt=play.attempt)
        await self._record.sync()
        document = self._document()
        said = {"match": match.meeting.match_id, "to": args.table}
        named = {"digest": document.digest, "parts": len(document.parts)}
        await command.write_and_answer(said | named)

    def require_leaving(self, request: RequestedCommand) -> AnyMatch:
        """Return the match that may leave this table, or raise CommandRefused if none may leave."""
        _require_allowed(request)
        play = self._record.match_written
        match = play.match or (play.transferred.match if play.transferred is not None else None)
        if match is None:
            raise CommandRefused(failure("NO_MATCH"))
        if match.phase is MatchPhase.SIGNED:
            before = phase_words(*(phase for phase in MatchPhase if phase is not MatchPhase.SIGNED))
            found = phase_words(match.phase)
            raise CommandRefused(failure("WRONG_PHASE", found=found, expected=before))
        if play.withheld:  # Withheld events are published together, and not during a transfer.
            now = phase_words(match.phase)
            found = Words(
                f"{now.en}, with answers or cards missing", f"{now.zh}，且有人尚未表态或出示"
            )
            then = Words("after that", "其后")
            raise CommandRefused(failure("WRONG_PHASE", found=found, expected=then))
        if play.match is not None and request.args.table == self._table_id:
            raise CommandRefused(
                failure("BAD_COMMAND", found=self._table_id, expected=_ANOTHER_TABLE)
            )
        return match

    def _suspend_match(self, match: AnyMatch) -> None:
        """Suspend the match, because it leaves the table.

        A running attempt is recorded as failed.
        """
        at_ms = self._record.clock()
        if match.phase in _ATTEMPT_PHASES and not match.by_hand:
            self._record.write_match(AttemptFailed(at_ms=at_ms, reasons=("NOT_NEEDED",)))
        suspend = TableSuspended(at_ms=at_ms, reason=TRANSFER_REASON)
        after = self._record.match_written.match
        going = after is not None and after.started and after.phase is not MatchPhase.OVER
        if going and self._match_commands.events_refusal(suspend) is None:
            self._record.write_match(suspend)

    def document_part(self, args: DocumentArgs) -> dict[str, Any]:
        """Return one part of the document of the match that left this table.

        Raises CommandRefused.
        """
        document, sent = self._document(), self._record.match_written.transferred
        assert sent is not None  # A document exists.
        if args.part > len(document.parts):
            count = len(document.parts)
            parts = Words(f"1 to {count}", f"1至{count}")
            raise CommandRefused(failure("BAD_COMMAND", found=args.part, expected=parts))
        return {
            "match": sent.match.meeting.match_id,
            "to": sent.to,
            "digest": document.digest,
            "sig": sign_document(document.digest, key) if (key := self._signing_key) else "",
            "part": args.part,
            "parts": len(document.parts),
            "text": document.parts[args.part - 1],
        }

    def _document(self) -> PackedDocument:
        """Return the packed document of the match that left this table. Raises CommandRefused."""
        sent = self._record.match_written.transferred
        if sent is None:
            raise CommandRefused(failure("NO_MATCH"))
        if self._packed is None or self._packed[0] != sent.n:
            self._packed = sent.n, pack_document(self._transfer(sent))
        return self._packed[1]

    def _transfer(self, sent: TransferredMatch) -> TransferDocument:
        match = sent.match
        before = sent.first_entry - 1
        of_it = list(self._record.journal.entries(before, sent.n - before))
        found = attempt_histories(each.entry for each in of_it)
        move = TableMove(
            left=self._table_id,
            row=count_rows(match),
            **copied_fields(sent, "to", "by", "entered_by", "at_ms"),
        )
        return TransferDocument(
            format=TRANSFER_FORMAT,
            match=match.meeting.match_id,
            left=self._table_id,
            left_key=self._table_key,
            head=of_it[-1].head.hex(),
            **copied_fields(sent, "to", "n", "at_ms", "wall"),
            profile=match.profile.name,
            profile_hash=profile_hash(match.profile).hex(),
            **copied_fields(match, "meeting", "record"),
            events=sent.log,
            proofs=(*sent.earlier_proofs, *self._proofs(match.meeting.match_id, found.values())),
            result=state_digest(match),
            moves=(*sent.moves, move),
        )

    def _proofs(self, match_id: str, found: Iterable[AttemptHistory]) -> Iterator[TransferProof]:
        """Yield a proof for each committed attempt of the match at this table, oldest first."""
        for progress in found:
            committed = progress.data("committed")
            if committed is None or committed["match"] != match_id:
                continue
            yield TransferProof(
                table=self._table_id,
                deal=progress.deal or 0,
                attempt=progress.attempt,
                commitment=committed["commitment"],
                cut=(progress.data("cut") or {}).get("cut"),
                hands=(progress.data("held") or {}).get("hands"),
                outcome=progress.outcome,
            )

    # A match arrives.

    async def take_over(self, command: AcceptedCommand) -> None:
        """Store one part of an arriving match's document. With the last part, accept the match.

        Parts of an incomplete match change nothing and are not in the journal. A document without
        the signature of the named table is never accepted, because a gateway in between could have
        made it. Raises CommandRefused.
        """
        args: TakeOverArgs = command.args
        _require_allowed(command.request)
        try:
            check_document(args.digest, args.verify, args.sig)
        except BadSignature:
            raise CommandRefused(failure("BAD_DOCUMENT")) from None
        if self._record.match_written.digest == args.digest:  # The match has arrived already.
            await command.write_and_answer(self._arrival_answer())
            return
        missing = self._store_part(args)
        if missing:
            command.send_answer({"missing": missing})
            return
        came = self._parts.pop(args.digest)
        try:
            transfer = unpack_document(args.digest, [came[part] for part in sorted(came)])
        except TransferError as bad:
            raise CommandRefused(_bad_document(bad)) from None
        self._require_acceptable(transfer, args.digest)
        self._write(transfer, args, _decision_names(command))
        await command.write_and_answer(self._arrival_answer())

    def _store_part(self, args: TakeOverArgs) -> list[int]:
        """Store one part of a document, and return the numbers of the parts that are missing."""
        came = self._parts.pop(args.digest, {})
        came[args.part] = args.text
        self._parts[args.digest] = came  # This document is now the newest.
        while len(self._parts) > MAX_DOCUMENTS:
            del self._parts[next(iter(self._parts))]
        return [part for part in range(1, args.parts + 1) if part not in came]

    def _require_acceptable(self, transfer: TransferDocument, digest: str) -> None:
        """Raise CommandRefused unless this table may accept the match in the document."""
        if transfer.to != self._table_id:
            found = Words(
                f"{transfer.match} goes from {transfer.left} to {transfer.to}",
                f"{transfer.match}由{transfer.left}台转往{transfer.to}台",
            )
            raise CommandRefused(failure("OTHER_MATCH", found=found))
        ours = profile_hash(self._profile).hex()
        if transfer.profile_hash != ours:
            theirs = f"{transfer.profile} {transfer.profile_hash[:16]}"
            here = f"{self._profile.name} {ours[:16]}"
            found = Words(
                f"its rules are {theirs}, the rules here are {here}", f"其规则{theirs}，本台{here}"
            )
            raise CommandRefused(failure("OTHER_MATCH", found=found))
        if digest in self._record.state.taken_transfers:
            raise CommandRefused(failure("OTHER_MATCH", found=_WAS_HERE))
        self._require_free_table()
        try:
            rebuild_match(transfer, self._profile)
        except TransferError as bad:
            raise CommandRefused(_bad_document(bad)) from None

    def require_arriving(self, request: RequestedCommand) -> None:
        """Raise CommandRefused unless the signer may move matches and this table is free."""
        _require_allowed(request)
        self._require_free_table()

    def _require_free_table(self) -> None:
        self._match_commands.require_no_match()
        if self._is_busy():
            raise CommandRefused(failure("MACHINE_BUSY"))

    def _write(
        self, transfer: TransferDocument, args: TakeOverArgs, decision_names: Mapping[str, str]
    ) -> None:
        """Write the arriving match into the journal, with times converted to this table's clock.

        All times are shifted by the same amount, so that the time since the last event is correct.
        Raises CommandRefused, with nothing written, for data that no entry can contain.
        """
        record = self._record
        left_ms = record.clock() - elapsed_ms(transfer.wall, self._wall_time())
        by_ms = max(0, left_ms - transfer.at_ms)
        happened = [shift_event(event, by_ms) for event in transfer.events]
        said = {
            "match": transfer.match,
            "table": transfer.left,
            "n": transfer.n,
            "head": transfer.head,
            "digest": args.digest,
            "verify": args.verify,
            "sig": args.sig,
            "events": len(transfer.events),
            "proofs": msgspec.to_builtins(transfer.proofs[-MAX_PROOFS:]),
            "moves": [
                msgspec.to_builtins(msgspec.structs.replace(move, at_ms=move.at_ms + by_ms))
                for move in transfer.moves[-MAX_MOVES:]
            ],
            **decision_names,
        }
        meeting = meeting_data(self._profile, transfer.meeting, transfer.record)
        _require_storable(said, meeting, happened)
        if left_ms < transfer.at_ms:  # The match is older than this table's clock.
            record.clock.advance(transfer.at_ms - left_ms)
        record.write("taken_over", said)
        record.write("meeting", meeting)
        for event in happened:
            coming = record.match_written.arriving
            so_far = coming and coming.match_so_far and coming.match_so_far.match
            deal = (so_far and so_far.deal) or None
            record.write("match", encode_match_event(event), deal=deal)

    def _arrival_answer(self) -> dict[str, Any]:
        match = self._record.match_written.match
        assert match is not None  # It has arrived.
        return {"match": match.meeting.match_id, "deal": match.deal, "phase": match.phase.value}


def _decision_names(command: AcceptedCommand) -> dict[str, str]:
    """Return the names of the person who decided the move and of the person who entered it."""
    fields = command.signer.decision_fields(command.args)
    return {name: fields[name] for name in ("by", "entered_by") if fields[name] is not None}


def _require_allowed(request: RequestedCommand) -> None:
    try:
        require_authority("transfer", request.signer.role, verbal=request.args.verbal)
    except RefusedError as error:
        raise CommandRefused(failure_of(error.refusal)) from None


def _require_storable(
    args: Mapping[str, Any], meeting: Mapping[str, Any], happened: Iterable[MatchEvent]
) -> None:
    """Raise CommandRefused if the journal cannot store an entry of the arriving match."""
    try:
        check_entry_data("taken_over", dict(args))
        check_entry_data("meeting", dict(meeting))
        for event in happened:
            check_entry_data("match", encode_match_event(event))
    except ValueError as wrong:
        bad = TransferError(str(wrong), "日志无法容纳其内容")
        raise CommandRefused(_bad_document(bad)) from None


def _bad_document(bad: TransferError) -> Failure:
    return failure("BAD_COMMAND", found=bad.words, expected=_ITS_PARTS)


_ANOTHER_TABLE = Words("another table", "另一张台")
_ITS_PARTS = Words("the parts in the answer to document", "document 给出的各部分")
_WAS_HERE = Words("this match was here, and has ended or left", "该局曾在本台，已结束或已转出")

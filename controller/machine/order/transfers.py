"""A match that leaves for another table, and one that comes from there (转台).

The chief's, or a referee's by his word. A table gives its match away first and says so in its
journal; then nobody has it but the document, which any referee may carry over, until the
other table takes it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from controller.journal.entries import fits
from controller.journal.fold import Progress, attempts
from controller.machine.clock import elapsed_ms
from controller.machine.order.desk import CommandRefused, Order, failure, failure_of
from controller.machine.order.match_desk import MatchCommands, meeting_data
from controller.machine.order.who import Asked
from controller.machine.play import Sent
from controller.machine.record import Record
from controller.machine.sheet.view import count_rows
from controller.match.authority import require
from controller.match.events import AttemptFailed, MatchEvent, TableSuspended, data_of
from controller.match.phase import Phase, called
from controller.match.refusals import RefusedError
from controller.match.state import Match
from controller.match.transfer import (
    TRANSFER_FORMAT,
    Move,
    PackedDocument,
    Proof,
    TransferDocument,
    TransferError,
    packed,
    rebuild_match,
    shifted,
    state_digest,
    unpacked,
)
from controller.match_arguments import DocumentArgs, TakeOverArgs, TransferArgs
from controller.messages import Failure
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.signing import BadSignature, check_document, sign_document
from controller.words import Words

MAX_DOCUMENTS = 4
"""Documents of which parts are kept at once: who sends a fifth, sends the first again."""
MAX_PROOFS = 100
"""Attempts of which the journal of the other table keeps what they promised: an entry is short."""
MOST_MOVES = 20
"""Ways of a match from table to table that its score sheet still has."""
REASON = "transfer"
"""Why the table stands still until a referee lets it go on where it came to."""
_ATTEMPT_PHASES = frozenset({Phase.DEALING, Phase.HELD})


class TableTransfers:
    """Gives the table's match away, and takes those of other tables.

    `busy`: the machine has hands under way or out. `wall` is the stamp of now; `table_id` and
    `table_key` are this table's, and `sign` the secret with which it signs what leaves: None signs
    nothing, and no table takes that.
    """

    def __init__(
        self,
        record: Record,
        profile: Profile,
        desk: MatchCommands,
        *,
        busy: Callable[[], bool],
        table_id: str,
        table_key: str,
        sign: bytes | None,
        wall: Callable[[], str],
    ) -> None:
        self._record, self._profile, self._match_commands, self._is_busy = (
            record,
            profile,
            desk,
            busy,
        )
        self._table_id, self._key, self._signing_key, self._wall_time = (
            table_id,
            table_key,
            sign,
            wall,
        )
        self._parts: dict[str, dict[int, str]] = {}
        self._packed: tuple[int, PackedDocument] | None = None

    # The match leaves.

    async def send(self, order: Order) -> None:
        """Let the match go to another table. Raises OrderRefused.

        A deal whose hands are out is played on there; one that is not begun is due there again.
        A match that went, and did not arrive, may be sent to yet another table.
        """
        args: TransferArgs = order.args
        match, play = self.leaving(order.asked), self._record.play
        if play.match is not None:
            self._stop(match)
        if play.match is not None or play.sent is None or play.sent.to != args.table:
            said = {"match": match.meeting.match_id, "to": args.table, "to_head": args.head}
            deal = match.deal or None
            by = _decision_names(order)
            self._record.write("transferred", said | by, deal=deal, attempt=play.attempt)
        await self._record.sync()
        document = self._document()
        said = {"match": match.meeting.match_id, "to": args.table}
        named = {"digest": document.digest, "parts": len(document.parts)}
        await order.carried_out(said | named)

    def leaving(self, asked: Asked) -> Match:
        """Return the match that may go to another table. Raises OrderRefused."""
        _require_allowed(asked)
        play = self._record.play
        match = play.match or (play.sent.match if play.sent is not None else None)
        if match is None:
            raise CommandRefused(failure("NO_MATCH"))
        if match.phase is Phase.SIGNED:
            before = called(*(phase for phase in Phase if phase is not Phase.SIGNED))
            found = called(match.phase)
            raise CommandRefused(failure("WRONG_PHASE", found=found, expected=before))
        if play.kept:  # it comes out together, and not on the way
            now = called(match.phase)
            found = Words(
                f"{now.en}, before all have said or laid theirs", f"{now.zh}，且有人尚未表态或出示"
            )
            then = Words("after that", "其后")
            raise CommandRefused(failure("WRONG_PHASE", found=found, expected=then))
        if play.match is not None and asked.args.table == self._table_id:
            raise CommandRefused(
                failure("BAD_COMMAND", found=self._table_id, expected=_ANOTHER_TABLE)
            )
        return match

    def _stop(self, match: Match) -> None:
        """Let the match stand still, with no attempt of a machine that it leaves behind."""
        at_ms = self._record.clock()
        if match.phase in _ATTEMPT_PHASES and not match.by_hand:
            self._record.happened(AttemptFailed(at_ms=at_ms, reasons=("NOT_NEEDED",)))
        suspend = TableSuspended(at_ms=at_ms, reason=REASON)
        after = self._record.play.match
        going = after is not None and after.started and after.phase is not Phase.OVER
        if going and self._match_commands.refused(suspend) is None:
            self._record.happened(suspend)

    def part(self, args: DocumentArgs) -> dict[str, Any]:
        """Return a part of the match that went from here. Raises OrderRefused."""
        document, sent = self._document(), self._record.play.sent
        assert sent is not None  # there is a document
        if args.part > len(document.parts):
            count = len(document.parts)
            parts = Words(f"1 to {count}", f"1至{count}")
            raise CommandRefused(failure("BAD_COMMAND", found=args.part, expected=parts))
        return {
            "match": sent.match.meeting.match_id,
            "to": sent.to,
            "digest": document.digest,
            "sig": ""
            if self._signing_key is None
            else sign_document(document.digest, self._signing_key),
            "part": args.part,
            "parts": len(document.parts),
            "text": document.parts[args.part - 1],
        }

    def _document(self) -> PackedDocument:
        """Return the document of the match that went from here. Raises OrderRefused."""
        sent = self._record.play.sent
        if sent is None:
            raise CommandRefused(failure("NO_MATCH"))
        if self._packed is None or self._packed[0] != sent.n:
            self._packed = sent.n, packed(self._transfer(sent))
        return self._packed[1]

    def _transfer(self, sent: Sent) -> TransferDocument:
        match = sent.match
        of_it = list(self._record.journal.entries(sent.begun - 1, sent.n - sent.begun + 1))
        found = attempts(each.entry for each in of_it)
        return TransferDocument(
            format=TRANSFER_FORMAT,
            match=match.meeting.match_id,
            left=self._table_id,
            left_key=self._key,
            to=sent.to,
            n=sent.n,
            head=of_it[-1].head.hex(),
            at_ms=sent.at_ms,
            wall=sent.wall,
            profile=match.profile.name,
            profile_hash=profile_hash(match.profile).hex(),
            meeting=match.meeting,
            record=match.record,
            events=sent.log,
            proofs=(*sent.brought, *self._proofs(match.meeting.match_id, found.values())),
            result=state_digest(match),
            moves=(*sent.moves, self._move(sent)),
        )

    def _move(self, sent: Sent) -> Move:
        """Return the way of the match that went from here."""
        return Move(
            left=self._table_id,
            to=sent.to,
            by=sent.by,
            entered_by=sent.entered_by,
            row=count_rows(sent.match),
            at_ms=sent.at_ms,
        )

    def _proofs(self, match_id: str, found: Iterable[Progress]) -> Iterator[Proof]:
        """Yield what the attempts of a match promised here, the oldest first."""
        for progress in found:
            committed = progress.data("committed")
            if committed is None or committed["match"] != match_id:
                continue
            yield Proof(
                table=self._table_id,
                deal=progress.deal or 0,
                attempt=progress.attempt,
                commitment=committed["commitment"],
                cut=(progress.data("cut") or {}).get("cut"),
                hands=(progress.data("held") or {}).get("hands"),
                outcome=progress.outcome,
            )

    # A match comes.

    async def take(self, order: Order) -> None:
        """Take a part of a match from another table; with the last the match. Raises OrderRefused.

        Parts that do not make it whole yet change nothing, and stand in no journal. What the table
        that the order names has not signed is taken from nobody: the gateways between could have
        written it.
        """
        args: TakeOverArgs = order.args
        _require_allowed(order.asked)
        try:
            check_document(args.digest, args.verify, args.sig)
        except BadSignature:
            raise CommandRefused(failure("BAD_DOCUMENT")) from None
        if self._record.play.digest == args.digest:  # it is here: somebody asks once more
            await order.carried_out(self._arrival_answer())
            return
        missing = self._keep(args)
        if missing:
            order.done({"missing": missing})
            return
        came = self._parts.pop(args.digest)
        try:
            transfer = unpacked(args.digest, [came[part] for part in sorted(came)])
        except TransferError as bad:
            raise CommandRefused(_bad_document(bad)) from None
        self._require_acceptable(transfer, args.digest)
        self._write(transfer, args, _decision_names(order))
        await order.carried_out(self._arrival_answer())

    def _keep(self, args: TakeOverArgs) -> list[int]:
        """Keep a part; return the numbers of those that have not come."""
        came = self._parts.pop(args.digest, {})
        came[args.part] = args.text
        self._parts[args.digest] = came  # as the newest
        while len(self._parts) > MAX_DOCUMENTS:
            del self._parts[next(iter(self._parts))]
        return [part for part in range(1, args.parts + 1) if part not in came]

    def _require_acceptable(self, transfer: TransferDocument, digest: str) -> None:
        """Return if the match may come. Raises OrderRefused."""
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
                f"it is played by {theirs}, here is {here}", f"其规则{theirs}，本台{here}"
            )
            raise CommandRefused(failure("OTHER_MATCH", found=found))
        if digest in self._record.state.taken:
            raise CommandRefused(failure("OTHER_MATCH", found=_WAS_HERE))
        self._require_free_table()
        try:
            rebuild_match(transfer, self._profile)
        except TransferError as bad:
            raise CommandRefused(_bad_document(bad)) from None

    def require_arriving(self, asked: Asked) -> None:
        """Return if a right document may be taken now. Raises OrderRefused."""
        _require_allowed(asked)
        self._require_free_table()

    def _require_free_table(self) -> None:
        match = self._record.play.match
        if match is not None and match.phase not in (Phase.SIGNED, Phase.SETUP):
            raise CommandRefused(failure("MATCH_OPEN", found=match.meeting.match_id))
        if self._is_busy():
            raise CommandRefused(failure("MACHINE_BUSY"))

    def _write(
        self, transfer: TransferDocument, args: TakeOverArgs, whose: Mapping[str, str]
    ) -> None:
        """Journal the match as it comes, with its times on this table's clock.

        They are moved all alike, so that what happened last is as long ago as the wall says.
        Raises OrderRefused, with nothing written, for what no entry can hold.
        """
        record = self._record
        left_ms = record.clock() - elapsed_ms(transfer.wall, self._wall_time())
        by_ms = max(0, left_ms - transfer.at_ms)
        happened = [shifted(event, by_ms) for event in transfer.events]
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
            "moves": [_shifted_move(move, by_ms) for move in transfer.moves[-MOST_MOVES:]],
            **whose,
        }
        meeting = meeting_data(self._profile, transfer.meeting, transfer.record)
        _check_fits(said, meeting, happened)
        if left_ms < transfer.at_ms:  # this table's clock is younger than the match
            record.clock.forward(transfer.at_ms - left_ms)
        record.write("taken_over", said)
        record.write("meeting", meeting)
        for event in happened:
            self._write_event(event)

    def _write_event(self, event: MatchEvent) -> None:
        coming = self._record.play.coming
        so_far = None if coming is None or coming.play is None else coming.play.match
        deal = None if so_far is None else so_far.deal or None
        self._record.write("match", data_of(event), deal=deal)

    def _arrival_answer(self) -> dict[str, Any]:
        """Return how the match stands that is here."""
        match = self._record.play.match
        assert match is not None  # it is here
        return {"match": match.meeting.match_id, "deal": match.deal, "phase": match.phase.value}


def _decision_names(order: Order) -> dict[str, str]:
    """Return by whose word a match moves; where that came by mouth also who entered it."""
    entered_by = order.who.enters(order.args)
    entered = {} if entered_by is None else {"entered_by": entered_by}
    return {"by": order.who.decided_by(order.args)} | entered


def _shifted_move(move: Move, by_ms: int) -> dict[str, Any]:
    """Return a move as the journal has it, on a clock that shows `by_ms` more."""
    data: dict[str, Any] = msgspec.to_builtins(move)
    return data | {"at_ms": move.at_ms + by_ms}


def _require_allowed(asked: Asked) -> None:
    try:
        require("transfer", asked.who.role, verbal=asked.args.verbal)
    except RefusedError as error:
        raise CommandRefused(failure_of(error.refusal)) from None


def _check_fits(
    said: Mapping[str, Any], meeting: Mapping[str, Any], happened: Iterable[MatchEvent]
) -> None:
    """Return if entries can hold all of a match. Raises OrderRefused."""
    try:
        fits("taken_over", dict(said))
        fits("meeting", dict(meeting))
        for event in happened:
            fits("match", data_of(event))
    except ValueError as wrong:
        bad = TransferError(str(wrong), "日志无法容纳其内容")
        raise CommandRefused(_bad_document(bad)) from None


def _bad_document(bad: TransferError) -> Failure:
    return failure("BAD_COMMAND", found=bad.words, expected=_ITS_PARTS)


_ANOTHER_TABLE = Words("another table", "另一张台")
_ITS_PARTS = Words("the parts that document gave", "document 给出的各部分")
_WAS_HERE = Words("it was here, and is over or gone", "该局曾在本台，已结束或已转出")

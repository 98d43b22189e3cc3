"""The hands that a chief may look at (open) after their release.

An opened hand is sealed to the chief's key, and the opening is published. That chief may not order
a redeal of the hand. A hand may be opened only while a count is claimed, or after the first lead.
"""

import base64
from collections.abc import Callable

from controller.cards import face_text
from controller.machine.commands.command_request import (
    AcceptedCommand,
    CommandRefused,
    RequestedCommand,
    failure,
)
from controller.machine.state.table_state import HandViewed
from controller.machine.table_record import TableRecord
from controller.match.match_state import AnyMatch
from controller.roster import Roster
from controller.vault.dealt_hands import DealtHands, dealt_hand
from controller.vault.sealing import seal_to
from controller.words import names_in_signer_text


class OpenedHands:
    """The handler of the command `open_hand`, and the check whether a signer saw a hand."""

    def __init__(
        self,
        record: TableRecord,
        roster: Roster,
        dealt: Callable[[], DealtHands | None],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._record, self._roster = record, roster
        self._dealt_hands, self._entropy = dealt, entropy
        self._being_viewed: list[HandViewed] = []

    async def open(self, command: AcceptedCommand) -> None:
        """Answer with the hand of a seat, encrypted for the sender. Raises CommandRefused."""
        play, args = self._record.match_written, command.args
        match, dealt = self.require_openable()
        asker = self._roster.admitted_client(command.message.key)
        if asker is None or asker.seal is None or command.message.key is None:
            raise CommandRefused(failure("UNKNOWN_KEY"))
        faces = dealt_hand(dealt.vault, dealt.sequence, args.seat)
        plain = " ".join(face_text(face) for face in faces).encode()
        box = base64.b64encode(seal_to(asker.seal, plain, self._entropy)).decode()
        said = {"seat": args.seat, "reason": args.reason, "by": command.signer.signed_text}
        opened = said | {"key": command.message.key}
        # This counts at once, even before the entry is committed.
        who = HandViewed(
            match.meeting.match_id, match.deal, command.message.key, command.signer.signed_text
        )
        self._being_viewed.append(who)
        self._record.write("opened_hand", opened, deal=match.deal, attempt=play.attempt)
        command.write(said)
        self._record.write(
            "answer",
            {"id": command.message.id, "key": command.message.key, "sealed": box},
            public=False,
        )
        await self._record.sync()
        self._being_viewed.remove(who)
        command.send_answer({"sealed": box})

    def require_openable(self) -> tuple[AnyMatch, DealtHands]:
        """Return the match and its dealt hands; raise CommandRefused if no hand may be opened."""
        match, dealt = self._record.match_written.match, self._dealt_hands()
        if match is None or not match.is_deal_under_way or not (match.led or match.claimed):
            raise CommandRefused(failure("HAND_CLOSED"))
        if dealt is None or match.by_hand:
            raise CommandRefused(failure("HANDS_UNKNOWN"))
        return match, dealt

    def require_unseen(self, request: RequestedCommand) -> None:
        """Raise CommandRefused if the signer may have seen a hand of the match's present deal.

        A verbal decision is refused if any person saw one, because its author cannot be verified.
        """
        match = self._record.match_written.match
        if match is None:
            return
        deal = (match.meeting.match_id, match.deal)
        views = (*self._record.state.viewed_hands, *self._being_viewed)
        seen = [one for one in views if (one.match, one.deal) == deal]
        by_word = bool(getattr(request.args, "verbal", False))
        deciding = {request.key, *names_in_signer_text(request.signer.signed_text)}
        if any(by_word or deciding & {one.key, *names_in_signer_text(one.by)} for one in seen):
            raise CommandRefused(failure("OPENED_BY_YOU"))

"""A hand opened for the chief: sealed to his key, publicly known, never to be redealt by him.

Only while a count is claimed, or after the first lead.
"""

import base64
from collections.abc import Callable, Iterator

from controller.cards import face_text
from controller.machine.order.desk import CommandRefused, Order, failure
from controller.machine.order.who import Asked
from controller.machine.record import Record
from controller.machine.state import Opened
from controller.match.state import Match
from controller.roster import Roster
from controller.signer_names import names_in
from controller.vault.exchange import DealtHands, hand
from controller.vault.sealing import seal_to


class OpenedHands:
    """Opens hands that are out, and remembers for whom."""

    def __init__(
        self,
        record: Record,
        roster: Roster,
        dealt: Callable[[], DealtHands | None],
        entropy: Callable[[int], bytes],
    ) -> None:
        self._record, self._roster = record, roster
        self._dealt_hands, self._entropy = dealt, entropy
        self._now: list[Opened] = []

    async def open(self, order: Order) -> None:
        """Answer with a hand as it was dealt, for the asker alone. Raises OrderRefused."""
        play, args = self._record.play, order.args
        match, dealt = self.require_openable()
        asker = self._roster.client(order.command.key)
        if asker is None or asker.seal is None or order.command.key is None:
            raise CommandRefused(failure("UNKNOWN_KEY"))
        faces = hand(dealt.vault, dealt.sequence, args.seat)
        plain = " ".join(face_text(face) for face in faces).encode()
        box = base64.b64encode(seal_to(asker.seal, plain, self._entropy)).decode()
        said = {"seat": args.seat, "reason": args.reason, "by": order.who.by}
        opened = said | {"key": order.command.key}
        # At once: what is written and not committed yet has been ordered all the same.
        who = Opened(match.meeting.match_id, match.deal, order.command.key, order.who.by)
        self._now.append(who)
        self._record.write("opened_hand", opened, deal=match.deal, attempt=play.attempt)
        order.write(said)
        self._record.write(
            "answer",
            {"id": order.command.id, "key": order.command.key, "sealed": box},
            public=False,
        )
        await self._record.sync()
        self._now.remove(who)
        order.done({"sealed": box})

    def require_openable(self) -> tuple[Match, DealtHands]:
        """Return the match and its hands, where one may be looked at. Raises OrderRefused."""
        match, dealt = self._record.play.match, self._dealt_hands()
        if match is None or not match.under_way or not (match.led or match.claimed):
            raise CommandRefused(failure("HAND_CLOSED"))
        if dealt is None or match.by_hand:
            raise CommandRefused(failure("HANDS_UNKNOWN"))
        return match, dealt

    def forbid(self, asked: Asked) -> None:
        """Refuse an order to deal again by somebody who saw a hand of this deal.

        Nor may it be given by word: nobody could tell whose word it is. Raises OrderRefused.
        """
        match = self._record.play.match
        if match is None:
            return
        seen = tuple(self._views_of(match.meeting.match_id, match.deal))
        by_word = bool(getattr(asked.args, "verbal", False))
        deciding = {asked.key, *names_in(asked.who.by)}
        if any(by_word or deciding & {one.key, *names_in(one.by)} for one in seen):
            raise CommandRefused(failure("OPENED_BY_YOU"))

    def _views_of(self, match_id: str, deal: int) -> Iterator[Opened]:
        """Yield who saw hands of a deal, in whichever of its attempts."""
        for one in (*self._record.state.opened, *self._now):
            if (one.match, one.deal) == (match_id, deal):
                yield one

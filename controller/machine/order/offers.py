"""What a role may order now: the command `offers`.

Found by asking those who would take the order (OrderDesk.refused) with samples of what people say,
on the match as it stands: nothing of the rules is written here again. A sample changes nothing, and
no vault is asked, so that an offer says no more than what the state says. It costs the loop that
deals cards two milliseconds at most, and only once for all who ask before something happens.
"""

from collections.abc import Callable, Hashable
from typing import Any, Final

import msgspec

from controller.commands import COMMANDS
from controller.machine.order.desk import CommandProcessor, failure
from controller.machine.order.samples import (
    FORM_REFUSALS,
    SEAT_REFUSALS,
    SIGNED_COMMANDS,
    CommandSample,
    SampleContext,
    invented_values,
    make_samples,
    verbal_sample,
)
from controller.machine.order.who import CommandSigner, RequestedCommand
from controller.machine.record import TableRecord
from controller.messages import Failure, Offer, Role, Seat
from controller.rules.profile import Profile

_NEEDS_CHIEF: Final = "NEEDS_CHIEF"


class CommandOffers:
    """Tells what may be ordered at a table. `apart` is what decides beside journal and match.

    The same answer is given again until one of them changes.
    """

    def __init__(
        self,
        record: TableRecord,
        desk: CommandProcessor,
        profile: Profile,
        sets: tuple[str, ...],
        outside_state: Callable[[], Hashable],
    ) -> None:
        self._record, self._desk, self._profile = record, desk, profile
        self._sets, self._outside_state = sets, outside_state
        self._last_inputs: tuple[Any, ...] = ()
        self._answers: dict[Role, dict[str, Any]] = {}

    def answer_for(self, role: Role) -> dict[str, Any]:
        """Return the answer to `offers` for a role."""
        record = self._record
        now = (
            record.match_written,
            record.state,
            record.raised_faults,
            self._desk.awaited_steps,
            self._outside_state(),
        )
        if not _is_same(now, self._last_inputs):
            self._last_inputs = now
            self._answers.clear()
        if role not in self._answers:
            self._answers[role] = {"offers": msgspec.to_builtins(self._offers(role))}
        return self._answers[role]

    def _offers(self, role: Role) -> list[Offer]:
        known = self._context()
        return [
            self._offer(cmd, role, known) for cmd in SIGNED_COMMANDS if role in COMMANDS[cmd].roles
        ]

    def _context(self) -> SampleContext:
        play, cuts = self._record.match_written, self._profile.cuts()
        return SampleContext(
            match=play.match,
            sets=tuple(sorted({*self._sets, *self._record.state.sets})),
            cards=self._profile.deck.cards,
            cut=cuts[len(cuts) // 2],
            raised_faults=self._record.raised_faults,
            match_calls=tuple(call.reason for call in play.match_calls),
        )

    def _offer(self, cmd: str, role: Role, known: SampleContext) -> Offer:
        seats: list[Seat] = []
        named, without = False, None
        words, why = False, None
        for sample in make_samples(cmd, known):
            named = named or sample.seat is not None
            if sample.seat is None and without:
                continue  # one that is taken is enough
            refused, word = self._try_sample(cmd, role, sample)
            if sample.seat is None:
                without = refused is None
            elif refused is None:
                seats.append(sample.seat)
            words = words or (refused is None and word)
            why = _combined_refusal(why, refused and without_sample(refused, sample, known))
        taken = bool(seats) or bool(without)
        return Offer(
            cmd=cmd,
            seats=seats if named else None,
            seatless=without if named else None,
            by_word=words,
            refused=None if taken else why,
        )

    def _try_sample(
        self, cmd: str, role: Role, sample: CommandSample
    ) -> tuple[Failure | None, bool]:
        """Return why a sample is refused, and whether it was tried as the chief's word."""
        refused = self._sample_refusal(cmd, role, sample)
        if refused is None or refused.code != _NEEDS_CHIEF:
            return refused, False
        word = verbal_sample(sample)
        return (refused, False) if word is None else (self._sample_refusal(cmd, role, word), True)

    def _sample_refusal(self, cmd: str, role: Role, sample: CommandSample) -> Failure | None:
        refused = self._desk.refusal_of(
            RequestedCommand(cmd, sample.args, CommandSigner(role.value, role))
        )
        if refused is not None and refused.code in FORM_REFUSALS.get(cmd, ()):
            return None
        return refused


def _combined_refusal(why: Failure | None, refused: Failure | None) -> Failure | None:
    """Return why nobody can, with one sample more that is refused (None: it is not)."""
    if why is None or refused is None:
        return why or refused
    if why.code == refused.code and why != refused:
        return _without_evidence(why)  # each names what its own sample said
    return refused if why.code in SEAT_REFUSALS else why


def _without_evidence(why: Failure) -> Failure:
    """Return a refusal that names nothing."""
    bare = failure(why.code)
    return msgspec.structs.replace(
        why, message=bare.message, message_zh=bare.message_zh, found=None
    )


def without_sample(why: Failure, sample: CommandSample, known: SampleContext) -> Failure:
    """Return a refusal without what nobody has said: it names the sample, which no table has.

    What it names of the table itself, a set or a ruling, it names on.
    """
    echoed = why.found is not None and why.found in invented_values(sample, known)
    return _without_evidence(why) if echoed else why


def _is_same(now: tuple[Any, ...], seen: tuple[Any, ...]) -> bool:
    """Tell whether nothing has changed: large values by being the same, small ones by value."""
    large = 2
    if len(now) != len(seen) or now[large:] != seen[large:]:
        return False
    return all(one is other for one, other in zip(now[:large], seen[:large], strict=True))

"""One attempt from its seed to its end, as the steps stand in DESIGN §6.

Each step is in the journal, and so on the feed, before the next one begins: seed
and commitment, cut, shuffle, first card, verdict, release. A procedure one can
read from top to bottom; what the cards do in between is the dealing loop's.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from controller.cards import face_text
from controller.deal import sequence as fair
from controller.deal.attempt import Attempt, Stage
from controller.deal.ledger import SEATS
from controller.deal.sightings import Begun, Settled
from controller.faults import fault, fault_name
from controller.journal.wire_group import opened
from controller.machine.dealing import Dealing
from controller.machine.orders import Order, OrderDesk
from controller.machine.record import Record
from controller.machine.wire_log import WireLog
from controller.messages import Outcome
from controller.rules.profile import Profile, profile_hash
from controller.vault.keyfile import KeyFile
from controller.vault.sealing import AttemptKey, seal_to
from controller.vault.vault import Vault
from drivers import dealer as dealer_board
from drivers.dealer import Dealer
from drivers.errors import DriverError, Refused, Result, SessionRenewed
from drivers.events import Code, Event, Read
from drivers.reader import Reader

_T = TypeVar("_T")


@dataclass(frozen=True)
class Fixtures:
    """What every attempt at this table works with.

    `entropy` gives that many fresh bytes; `chief` is the public key that attempt
    keys are sealed to.
    """

    record: Record
    wire_log: WireLog
    vault: Vault
    key_file: KeyFile
    chief: bytes
    dealer: Dealer
    reader: Reader
    desk: OrderDesk
    profile: Profile
    table_key: str
    match_id: str
    card_set: str
    back: str
    entropy: Callable[[int], bytes]
    cut_s: float
    on_change: Callable[[], None]


class _Ended(Exception):
    """The attempt ends here, for these reasons."""

    def __init__(self, *reasons: str) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


class AttemptRun:
    """Deal `deal`, attempt `number`. `run` goes as far as held hands, `release` from there.

    `over` is set once no card of it is on its way any more, whatever became of it.
    """

    def __init__(self, fixtures: Fixtures, deal: int, number: int) -> None:
        self.deal = deal
        self.number = number
        self.over = asyncio.Event()
        self.dealing: Dealing | None = None
        self._at = fixtures
        self._loop = asyncio.get_running_loop()
        self._broken: asyncio.Future[str] = self._loop.create_future()
        self._settled: asyncio.Future[Attempt] = self._loop.create_future()
        self._released: asyncio.Future[None] = self._loop.create_future()
        self._settling: asyncio.Task[None] | None = None
        self._let_out = False
        self._events: list[Event] = []
        self._key = AttemptKey.new(fixtures.entropy)
        self._count: Settled | None = None
        self._seed = b""
        self._commitment = b""
        self._cut: int | None = None
        self._nonce = b""

    # What happens meanwhile.

    def on_dealer_event(self, event: Event) -> None:
        """Take an event of the dealer board, inside the read callback."""
        if event.attempt != self.number:
            return
        self._events.append(event)
        if event.code is Code.RELEASED:
            if not self._released.done():
                self._released.set_result(None)
        elif self.dealing is not None and not self._let_out:
            self.dealing.on_event(event)

    def on_read(self, read: Read) -> None:
        """Take a READ; the vault keeps the face, the dealing loop learns its verdict."""
        if read.attempt != self.number:
            return
        self._events.append(read)
        if self.dealing is not None:
            self.dealing.see(self._at.vault.read(read))

    def broken(self, reason: str) -> None:
        """End the attempt for a reason outside the cards; hands that are out stay out."""
        if self._let_out:
            return
        if not self._broken.done():
            self._broken.set_result(reason)
        if self.dealing is not None:
            self.dealing.broken(reason)

    def resume(self) -> None:
        """Tell the boards again where to be, after a new session."""
        if self.dealing is not None:
            self.dealing.resume()

    @property
    def fed(self) -> int:
        """Cards fed from the hopper so far."""
        return self.dealing.attempt.ledger.fed if self.dealing is not None else 0

    def seal(self, plain: bytes) -> bytes:
        """Return `plain` in a box that only this attempt's key opens."""
        return self._key.seal(plain)

    # The steps.

    async def run(self, uncut: str | None = None, start: Order | None = None) -> Outcome:
        """Deal until the hands are held, or the attempt has ended otherwise.

        `uncut` is the referee's reason to deal without a cut; `start` the order that
        began the deal, answered once the commitment is out. Raises StorageFailed.
        """
        try:
            await self._commit(start)
            await self._take_cut(uncut)
            await self._begin()
            reasons = await self._deal()
        except _Ended as ended:
            reasons = ended.reasons
        finally:
            self._close()
        if reasons:
            return await self.end(*reasons)
        await self._hold()
        return Outcome.OK

    async def _commit(self, start: Order | None) -> None:
        at = self._at
        self._seed = at.entropy(fair.SEED_BYTES)
        hashed = profile_hash(at.profile)
        context = fair.context(
            at.table_key, at.match_id, self.deal, self.number, hashed, at.card_set
        )
        self._commitment = fair.commitment(context, self._seed)
        at.vault.begin(self.number)
        at.key_file.write(self.number, self._key.raw)
        for_chief = seal_to(at.chief, self._key.raw, at.entropy)
        boxes = {"box": _text(self.seal(self._seed)), "for_chief": _text(for_chief)}
        self._write("seed", boxes, public=False)
        deck = at.profile.deck
        self._write(
            "committed",
            {
                "commitment": self._commitment.hex(),
                "table_key": at.table_key,
                "match": at.match_id,
                "profile": at.profile.name,
                "profile_hash": hashed.hex(),
                "set": at.card_set,
                "back": at.back,
                "deck": {"packs": deck.packs, "jokers": deck.jokers, "cards": deck.cards},
            },
        )
        if start is not None:
            start.write({"deal": self.deal, "attempt": self.number})
        await at.record.sync()
        if start is not None:
            start.done()

    async def _take_cut(self, uncut: str | None) -> None:
        if uncut is not None:
            self._write("cut", {"cut": None, "reason": uncut})
            await self._at.record.sync()
            return
        late = self._loop.call_later(self._at.cut_s, self._at.record.latch, "CUT_LATE")
        try:
            while not await self._one_cut():
                pass
        finally:
            late.cancel()
            self._at.record.clear("CUT_LATE")

    async def _one_cut(self) -> bool:
        """Take one order that may be the cut; return whether it was one."""
        order = await self._unless_broken(self._at.desk.take("cut", "start_deal"))
        if order.command.cmd == "start_deal":
            reason = order.args.get("reason")
            if order.args.get("uncut") is not True or not isinstance(reason, str) or not reason:
                order.refuse(
                    "BAD_COMMAND", why="it waits for its cut, or for uncut=true with a reason"
                )
                return False
            data: dict[str, Any] = {"cut": None, "reason": reason}
        else:
            cuts = self._at.profile.cuts()
            number = order.args.get("n")
            if type(number) is not int or number not in cuts:
                order.refuse("BAD_COMMAND", found=f"n={number!r}", expected=f"{cuts[0]}…{cuts[-1]}")
                return False
            data = {"cut": number}
        self._cut = data["cut"]
        order.write({"cut": self._cut})
        self._write("cut", data)
        await self._at.record.sync()
        order.done()
        return True

    async def _begin(self) -> None:
        at, deck = self._at, self._at.profile.deck
        try:
            for board in (at.reader, at.dealer):
                begin = partial(board.begin, self.number, deck.cards, at.profile.hand)
                await self._unless_broken(_absolute(begin))
        except Refused as refused:
            raise _Ended(await self._why_refused(refused)) from refused
        except DriverError as error:
            raise _Ended(fault_name(error)) from error
        self._write("begun", {})
        await at.record.sync()

    async def _why_refused(self, refused: Refused) -> str:
        """Return the fault behind a refused BEGIN, from what the sensors see."""
        known = {Result.LID_OPEN: "LID_OPENED", Result.ESTOP: "ESTOP_PRESSED"}
        if refused.result is not Result.NOT_CLEAR:
            return known.get(refused.result, "BOARD_REFUSED")
        status = await self._at.dealer.status()
        return "POCKET_NOT_EMPTY" if any(status.sees_pockets) else "PATH_NOT_CLEAR"

    async def _deal(self) -> tuple[str, ...]:
        """Deal the cards; return why there are no right hands, nothing where there are."""
        at = self._at
        profile = at.profile
        self.dealing = Dealing(
            self.number,
            fair.sequence(self._commitment, self._seed, self._cut, profile.deck.cards),
            profile.shuffles(self.deal),
            dealer=at.dealer.link.post,
            reader=at.reader.link.post,
            stop=at.dealer.stop,
            on_check=self._check,
            on_end=self._on_end,
            on_change=self._on_change,
        )
        if self._broken.done():
            return (self._broken.result(),)
        self.dealing.see(Begun())
        attempt = await self._settled
        return attempt.reasons if attempt.stage is Stage.OVER else ()

    def _on_change(self) -> None:
        assert self.dealing is not None
        if self.dealing.attempt.stage is Stage.DEALING and not self.dealing.attempt.ledger.cards:
            self._shuffled()
        self._at.on_change()

    def _shuffled(self) -> None:
        if self._at.record.state.attempt == self.number:
            assert self.dealing is not None
            self._write("shuffled", {"passes": self.dealing.attempt.passes})
            self._at.record.journal.flush()

    def _check(self) -> None:
        self._settling = self._loop.create_task(self._settle())

    async def _settle(self) -> None:
        """Ask both boards and the vault for the final count."""
        at = self._at
        assert self.dealing is not None
        try:
            status = await _absolute(at.dealer.status)
            read = await _absolute(at.reader.status)
        except DriverError as error:
            self.dealing.broken(fault_name(error))
            return
        self._count = _settled(status, read.pulses, self._set_faults())
        self.dealing.see(self._count)

    def _set_faults(self) -> tuple[str, ...]:
        assert self.dealing is not None
        places = self.dealing.attempt.ledger.places()
        return self._at.vault.set_verdict(places, self._at.profile.deck.cards)

    def _on_end(self, attempt: Attempt) -> None:
        if not self._settled.done():
            self._settled.set_result(attempt)
        elif attempt.stage is Stage.OVER and not self._broken.done():
            self._broken.set_result(attempt.reasons[0])

    async def _hold(self) -> None:
        """Bind the hands, and write the verdict before anybody may lift them."""
        at = self._at
        assert self.dealing is not None
        ledger = self.dealing.attempt.ledger
        self._nonce = at.entropy(fair.NONCE_BYTES)
        record = at.vault.record(ledger.places(), at.profile.deck.cards)
        hands = fair.hands(self._commitment, self._nonce, record)
        at.wire_log.write()
        self._write("dealt", {"fed": ledger.fed, "refed": ledger.refed})
        self._write("hands_box", {"box": _text(self.seal(self._nonce + record))}, public=False)
        self._write("held", {"hands": hands.hex()})
        self._write_verdict(Outcome.OK, ())
        await at.record.sync()
        self.over.set()
        await at.wire_log.sync()

    async def release(self) -> bool:
        """Wait for the order, then let the hands out; False where they may not go any more.

        Raises StorageFailed.
        """
        at = self._at
        try:
            order = await self._unless_broken(at.desk.take("release"))
            order.write()
            await at.record.sync()
            try:
                await self._unless_broken(_absolute(lambda: at.dealer.release(self.number)))
                await self._unless_broken(self._released)
                self._let_out = True
            except (_Ended, DriverError) as error:
                name = fault_name(error) if isinstance(error, DriverError) else str(error)
                order.refuse(name)
                raise _Ended(name) from error
            self._write("released", self._turned_up())
            await at.record.sync()
            order.done()
        except _Ended as ended:
            await self.end(*ended.reasons)
            return False
        return True

    async def reveal(self) -> None:
        """Show seed and cut: the deal is over. Raises StorageFailed."""
        self._write("revealed", {"seed": self._seed.hex(), "cut": self._cut})
        await self._at.record.sync()
        self._forget()

    async def end(self, *reasons: str) -> Outcome:
        """Write why there are no hands, and open the whole record. Raises StorageFailed."""
        at = self._at
        if "COUNT_SHORT" in reasons:
            reasons = tuple(dict.fromkeys([*reasons, *self._set_faults()]))
        proven = any(fault(reason).misdeal for reason in reasons)
        outcome = Outcome.MISDEAL if proven else Outcome.VOID
        at.wire_log.write()
        if self._nonce:
            self._write("withdrawn", {"reasons": list(reasons)})
        else:
            self._write_verdict(outcome, reasons)
        self._write("revealed", {"seed": self._seed.hex(), "cut": self._cut})
        self._write("record", self._record())
        await at.record.sync()
        self.over.set()
        await at.wire_log.sync()
        self._forget()
        return outcome

    def _record(self) -> dict[str, Any]:
        """Return all that was seen of an attempt that gave no hands."""
        hands = None
        if self._nonce:
            assert self.dealing is not None
            places = self.dealing.attempt.ledger.places()
            hands = self._at.vault.record(places, self._at.profile.deck.cards).hex()
        record: dict[str, Any] = {"nonce": self._nonce.hex() or None, "hands": hands}
        record["events"] = opened(self._events)
        if self._count is not None:
            names = ("hopper_empty", "path_empty", "tray_empty", "reader_pulses")
            record["settled"] = {name: getattr(self._count, name) for name in names}
        return record

    def _forget(self) -> None:
        self._at.vault.forget()
        self._at.key_file.remove(self.number)

    # Small change.

    def _write_verdict(self, outcome: Outcome, reasons: tuple[str, ...]) -> None:
        ledger = self.dealing.attempt.ledger if self.dealing is not None else None
        landed = ledger.landed() if ledger else dict.fromkeys((*SEATS, "tray"), 0)
        self._write(
            "verdict",
            {
                "outcome": outcome.value,
                "reasons": list(reasons),
                "landed": landed,
                "fed": ledger.fed if ledger else 0,
                "refed": ledger.refed if ledger else 0,
            },
        )

    def _turned_up(self) -> dict[str, str]:
        """Return what is shown with the hands: the turned-up card of the first deal."""
        at = self._at
        if self.deal != 1 or not at.profile.turnup.deal1:
            return {}
        assert self.dealing is not None
        cards = at.profile.deck.cards
        draws = fair.turned_up(self._commitment, self._seed, self._cut, cards)
        places = self.dealing.attempt.ledger.places()
        place, face = at.vault.turned_up(places, draws, at.profile.turnup.faces())
        leader = self.dealing.attempt.sequence[place - 1]
        return {"turned_up": face_text(face), "leader": leader}

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        self._at.record.write(kind, data, deal=self.deal, attempt=self.number, public=public)

    async def _unless_broken(self, awaited: Awaitable[_T]) -> _T:
        """Return what is awaited, or end the attempt when it is broken first."""
        waiting = asyncio.ensure_future(awaited)
        both: set[asyncio.Future[Any]] = {waiting, self._broken}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        waiting.cancel()
        raise _Ended(self._broken.result())

    def _close(self) -> None:
        if self.dealing is not None:
            self.dealing.close()
        if self._settling is not None and not self._settling.done():
            self._settling.cancel()


async def _absolute(command: Callable[[], Awaitable[_T]]) -> _T:
    """Do a command again once where its session ended: it says where to be, not what to do."""
    try:
        return await command()
    except SessionRenewed:
        return await command()


def _settled(status: dealer_board.Status, pulses: int, set_faults: tuple[str, ...]) -> Settled:
    n, w, s, e, _ = status.landed
    return Settled(
        hopper_empty=not (status.sees_hopper or status.sees_shuffler),
        path_empty=not (status.sees_window or status.sees_path),
        tray_empty=not status.sees_tray,
        pockets_seen=status.sees_pockets,
        board_fed=status.fed,
        board_landed=(n, w, s, e),
        board_locked=status.locked,
        reader_pulses=pulses,
        set_faults=set_faults,
    )


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()

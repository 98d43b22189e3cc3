"""What people order of the table, command by command; the match's own go to its desk.

An act checks, journals and answers. Steps of a deal (start, cut, release) are no acts: the
deal itself waits for them, and `veto` says why it does not now.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from controller.arguments import Acknowledging, ClearingSet, Cutting, Holding, LoadingSet
from controller.faults import catalogue
from controller.machine.deals import Custom, Deals
from controller.machine.order.desk import Order, OrderRefused, failure, failure_of
from controller.machine.order.match_desk import MatchDesk
from controller.machine.order.match_orders import EVENTS
from controller.machine.order.opening import OpenedHands
from controller.machine.order.transfers import Transfers
from controller.machine.record import Record
from controller.machine.stops import SEEN_BY_PEOPLE, ends_an_attempt
from controller.machine.table import Table
from controller.machine.technical import Technical
from controller.match.events import Cut, ReleaseOrdered, Suspended
from controller.match.phase import BEFORE_RELEASE
from controller.messages import Failure, Phase, Role
from drivers.dealer import Dealer
from drivers.errors import DriverError
from drivers.reader import Reader

Act = Callable[[Order], Awaitable[None]]

_STEPS = frozenset({"start_deal", "cut", "release"})
_OPEN_A_MATCH = frozenset({"set_match", "start_match", "take_over"})
_WAITING_SENSORS = {"ESTOP_PRESSED": "estop", "LID_OPENED": "lid_open"}
"""Faults that a sensor still sees; such a one cannot be acknowledged away."""


class TableActs:
    """Carries orders out at one table."""

    def __init__(
        self,
        record: Record,
        table: Table,
        deals: Deals,
        desk: MatchDesk,
        custom: Custom,
        boards: tuple[Dealer, Reader],
        opened: OpenedHands,
        transfers: Transfers,
    ) -> None:
        self._record, self._table, self._deals = record, table, deals
        self._match, self._custom = desk, custom
        self._dealer, self._opened, self._transfers = boards[0], opened, transfers
        technical = Technical(record, table, *boards)
        self._acts: Mapping[str, Act] = {
            "set_match": self._set_match,
            "call": self._call,
            "hold": self._hold,
            "resume": self._resume,
            "recount": self._recount,
            "replace_set": self._replace_set,
            "clear_set": self._clear_set,
            "acknowledge": self._acknowledge,
            "clear_jam": self._clear_jam,
            "void": self._void,
            "adjust": self._adjust,
            "tribute": desk.judge_tribute,
            "return": desk.judge_return,
            "redeal": self._redeal,
            "open_hand": opened.open,
            "transfer": self._transfer,
            "take_over": transfers.take,
            "selftest": technical.selftest,
            "configure": technical.configure,
            "calibrate": technical.calibrate,
        }

    def act(self, cmd: str) -> Act | None:
        """Return what carries a command out at once; None: a step of the machine waits for it."""
        if cmd in _STEPS:
            return None
        if self._custom.testing and cmd in _OPEN_A_MATCH:
            return _refuse_in_test
        if cmd in self._acts:
            return self._acts[cmd]
        return self._match.act if cmd in EVENTS else None

    def veto(self, cmd: str, args: Any) -> Failure | None:
        """Return why a step of the machine cannot be ordered now; None: it can."""
        return self.without_machine(cmd) or self._vetoes[cmd](self, args)

    def without_machine(self, cmd: str) -> Failure | None:
        """Return why a step is not the machine's in this deal; None: it is, or it is no step."""
        match = self._record.play.match
        by_hand = match is not None and match.by_hand and match.phase in BEFORE_RELEASE
        return failure("BY_HAND") if by_hand and cmd in _STEPS else None

    # The steps of a deal.

    def _veto_start(self, args: Any) -> Failure | None:
        state, loaded = self._record.state, self._deals.loaded
        if state.pauses:
            return failure("PAUSED", found=", ".join(sorted(state.pauses)))
        if state.phase is Phase.COMMITTED and self._table.run is not None:
            return None  # without its cut
        if self._deals.chief is None:
            return failure("NO_CHIEF")
        if self._deals.waits_for is not None:
            return None
        if loaded.barred:
            return failure("SET_BARRED", found=loaded.id)
        match = self._record.play.match
        where = {} if match is None else {"found": match.phase.value}
        return failure("NO_DEAL_DUE", **where)

    def _veto_cut(self, args: Cutting) -> Failure | None:
        cutters, pauses = self._deals.cutters(), self._record.state.pauses
        if pauses:
            return failure("PAUSED", found=", ".join(sorted(pauses)))
        if cutters and args.seat is not None and args.seat not in cutters:
            return failure("NOT_HIS_DUTY", found=" / ".join(cutters))
        return None if self._deals.is_practice else self._refused_cut(args)

    def _refused_cut(self, args: Cutting) -> Failure | None:
        """Return why the match would not take a cut; one of a deal ahead it does not see yet."""
        if self._deals.is_ahead:
            return None
        seat = args.seat or next(iter(self._deals.cutters()), None)
        refused = self._match.refused(Cut(at_ms=self._record.clock(), seat=seat, n=args.n))
        return None if refused is None else failure_of(refused.refusal)

    def _veto_release(self, args: Any) -> Failure | None:
        pauses, play = self._record.state.pauses, self._record.play
        if pauses:
            return failure("PAUSED", found=", ".join(sorted(pauses)))
        if play.match is None or self._deals.is_practice:
            return None
        refused = self._match.refused(ReleaseOrdered(at_ms=self._record.clock()))
        return None if refused is None else failure_of(refused.refusal)

    _vetoes: Mapping[str, Callable[["TableActs", Any], Failure | None]] = {
        "start_deal": _veto_start,
        "cut": _veto_cut,
        "release": _veto_release,
    }

    # A match, and those who call.

    async def _set_match(self, order: Order) -> None:
        if self._table.busy:
            raise OrderRefused(failure("MACHINE_BUSY"))
        await self._match.lay_out(order)

    async def _call(self, order: Order) -> None:
        state, args = self._record.state, order.args
        said = {"seat": args.seat, "reason": args.reason or "button"}
        self._record.write("call", said, deal=state.deal)
        await order.carried_out()

    # Pauses: each is cleared by its owner, the chief clears every person's.

    async def _hold(self, order: Order) -> None:
        args: Holding = order.args
        if args.area:
            self._match.write(*self._match.meant(order))
        else:
            suspends = () if self._record.play.match is None else self._match.meant(order)
            if suspends and self._match.refused(*suspends) is None:
                self._match.write(*suspends)
            why = {"reason": order.who.role.value, "by": order.who.by, "why": args.reason}
            self._record.write("pause", why)
            self._table.hold()
        await order.carried_out()

    async def _resume(self, order: Order) -> None:
        role = order.who.role
        if order.args.area:
            self._match.write(*self._match.meant(order))
            await order.carried_out()
            return
        pauses = self._record.state.pauses
        ended = [why for why in pauses if role is Role.CHIEF or why == role.value]
        match = self._record.play.match
        suspended = match is not None and match.suspended is not None
        claimed = match is not None and match.claimed is not None
        if not ended and pauses:
            raise OrderRefused(failure("NOT_YOUR_PAUSE", found=", ".join(sorted(pauses))))
        if not ended and not suspended:
            raise OrderRefused(failure("NOT_SUSPENDED"))
        # A claimed count is ended by its own recount, whoever else lets the table go on.
        if suspended and len(ended) == len(pauses) and not (claimed and ended):
            self._match.write(*self._match.meant(order))
        for why in ended:
            self._record.write("pause_ended", {"reason": why, "by": order.who.by})
        await order.carried_out()
        if not self._record.state.pauses:
            self._table.go_on()

    async def _recount(self, order: Order) -> None:
        """Take four counts; a table that somebody holds besides stays so."""
        self._opened.forbid(order)
        pauses, held = self._record.state.pauses, None
        if pauses:
            held = Suspended(at_ms=self._record.clock(), reason=", ".join(sorted(pauses)))
        await self._match.act(order, held)

    # Sets.

    async def _replace_set(self, order: Order) -> None:
        args: LoadingSet = order.args
        known = self._record.state.sets.get(args.set)
        back = known.back if known is not None else self._custom.sets.get(args.set, args.back)
        if back is None:
            names = ", ".join(sorted({*self._custom.sets, *self._record.state.sets}))
            raise OrderRefused(failure("NO_SUCH_SET", found=args.set, expected=names))
        if self._table.run is not None:
            raise OrderRefused(failure("MACHINE_BUSY"))
        out = self._record.state.out
        if out is not None and out.card_set == args.set:
            raise OrderRefused(failure("SET_OUT", found=args.set))
        said = {"set": args.set, "back": back, "by": order.who.by}
        self._record.write("set_loaded", said)
        await order.carried_out(said)
        self._deals.changed()

    async def _clear_set(self, order: Order) -> None:
        args: ClearingSet = order.args
        known, due = self._record.state.sets.get(args.set), self._deals.cards
        if known is None:
            names = ", ".join(sorted(self._record.state.sets))
            raise OrderRefused(failure("NO_SUCH_SET", found=args.set, expected=names))
        if args.cards != due:
            raise OrderRefused(failure("SET_NOT_WHOLE", found=args.cards, expected=due))
        said = {"set": args.set, "by": order.who.by}
        self._record.write("set_cleared", said)
        await order.carried_out(said)
        self._deals.changed()

    # Faults.

    async def _acknowledge(self, order: Order) -> None:
        args: Acknowledging = order.args
        named, board = args.code, args.board or ""
        needs = {call.reason.upper() for call in self._record.play.needs}
        latched = self._record.latched
        if (named, board) not in latched and named not in needs:
            known = ", ".join(sorted({name for name, _ in latched} | needs)) or "none"
            raise OrderRefused(failure("NOT_LATCHED", found=named, expected=known))
        if await self._still_there(named):
            raise OrderRefused(failure("STILL_THERE", found=named))
        name = named if named in catalogue() else named.lower()
        self._record.write("acknowledged", {"name": name, "by": order.who.by, "board": board})
        order.write()  # with it: asked again after a crash it is answered the same
        if named in SEEN_BY_PEOPLE or (named in catalogue() and ends_an_attempt(named)):
            self._record.clear(named, board)
        await self._record.sync()
        order.done()
        self._deals.changed()

    async def _still_there(self, name: str) -> bool:
        """Tell whether a sensor still sees what was latched."""
        if name not in _WAITING_SENSORS:
            return False
        try:
            status = await self._dealer.status()
        except DriverError:
            return True
        return bool(getattr(status, _WAITING_SENSORS[name]))

    async def _clear_jam(self, order: Order) -> None:
        if not any(name == "JAM" for name, _ in self._record.latched):
            raise OrderRefused(failure("NOT_LATCHED", found="JAM", expected="JAM"))
        order.write()  # first: asked again after a crash it is answered the same
        self._record.clear("JAM")
        await self._record.sync()
        order.done()
        self._deals.changed()

    async def _void(self, order: Order) -> None:
        run = self._table.run
        if run is None or run.released:
            found = self._table.phase.value
            expected = "an attempt whose hands are not out"
            raise OrderRefused(failure("WRONG_PHASE", found=found, expected=expected))
        if not self._deals.is_practice and not self._deals.is_ahead:
            self._opened.forbid(order)
        order.write({"reason": order.args.reason})
        run.broken("ORDERED")  # at once: a release in the same moment would come before it
        await self._record.sync()
        order.done()

    async def _redeal(self, order: Order) -> None:
        self._opened.forbid(order)
        await self._match.act(order)

    # What leaves the present deal unplayed as a redeal does.

    async def _adjust(self, order: Order) -> None:
        if order.args.choice == "void_later":
            self._opened.forbid(order)
        await self._match.act(order)

    async def _transfer(self, order: Order) -> None:
        """Send the match away; the other table does not know who saw a hand of the deal."""
        match = self._record.play.match
        if match is not None and match.under_way:
            self._opened.forbid(order)
        await self._transfers.send(order)


async def _refuse_in_test(order: Order) -> None:
    raise OrderRefused(failure("TEST_MODE"))

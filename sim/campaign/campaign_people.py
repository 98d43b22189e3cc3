"""The class `CampaignPeople`, which decides what the simulated people of a campaign do next.

`PeopleMemory` contains the durations of conditions, the actions tried, and the progress of the
table. Times are the loop's, in seconds.
"""

import asyncio
import random
import re
from collections.abc import Callable

from controller.faults import fault_catalogue
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from sim.campaign.people_actions import PeopleAction, PeopleActions
from sim.campaign.table_host import SETS, TableHost
from sim.hardware_in_process import BOARDS
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.truth import Truth

RETRY_AFTER_S = 12.0
"""The time after which people repeat an action that did not help."""
STUCK_TIMEOUT_S = 300.0
"""A table without any new state for this time, whatever people did, is stuck."""
MAX_ATTEMPTS = 80
"""A table is stuck if one deal takes more than this number of attempts."""


class TableStuck(Exception):
    """Error for a table that does not continue although people did all required actions."""


class PeopleMemory:
    """A record of when each condition of a table began, and when people tried each action."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._since: dict[str, float] = {}
        self._tried: dict[str, float] = {}
        self._last_signature: object = None
        self._last_change_s = self._loop.time()
        self._attempts: set[int | None] = set()

    def notice(self, state: PublicState, truth: Truth) -> None:
        """Record which conditions (alerts, or states of the machine) are true now."""
        phase, now_s = state.machine.phase, self._loop.time()
        looks = {
            "estop pressed": truth.estop,
            "lid open": truth.lid_open,
            "cards left": truth.lift_up and any(truth.pockets[:4]),
            "nothing begins": phase is MachinePhase.EMPTY,
            "waiting": phase is MachinePhase.RELEASED,
        }
        so = {alert.name for alert in state.alerts}
        so |= {name for name, is_so in looks.items() if is_so}
        self._since = {name: self._since.get(name, now_s) for name in so}

    def has_lasted(self, name: str, for_s: float) -> bool:
        """Return True if the condition `name` has been true for at least `for_s` seconds."""
        return name in self._since and self.duration_s(name) >= for_s

    def duration_s(self, name: str) -> float:
        """Return for how many seconds the condition `name` has been true, 0 if it is not true."""
        now_s = self._loop.time()
        return now_s - self._since.get(name, now_s)

    def may_retry(self, what: str) -> bool:
        """Return whether RETRY_AFTER_S has passed since the last try of `what`.

        If it has passed, also record a new try now.
        """
        now_s = self._loop.time()
        if now_s - self._tried.get(what, -RETRY_AFTER_S) < RETRY_AFTER_S:
            return False
        self._tried[what] = now_s
        return True

    def check_progress(self, state: PublicState | None, describe: Callable[[], str]) -> None:
        """Raise TableStuck if `state` is unchanged for too long, or the deal has too many attempts.

        The limits are STUCK_TIMEOUT_S, and MAX_ATTEMPTS of one deal. `describe()` returns the
        current status.
        """
        now_s = self._loop.time()
        signature: object = None
        if state is not None:
            machine, names = state.machine, sorted(alert.name for alert in state.alerts)
            signature = (machine.phase, machine.attempt, machine.fed, machine.refed, names)
            self._attempts.add(machine.attempt)
        if signature != self._last_signature:
            self._last_signature, self._last_change_s = signature, now_s
        if now_s - self._last_change_s > STUCK_TIMEOUT_S:
            raise TableStuck(f"{describe()}: nothing new for {STUCK_TIMEOUT_S:g} s")
        if len(self._attempts) > MAX_ATTEMPTS:
            raise TableStuck(f"{describe()}: {MAX_ATTEMPTS} attempts of one deal")

    def new_deal(self) -> None:
        """Begin a new deal: set the count of its attempts to zero."""
        self._attempts.clear()


LOOK_INTERVAL_S = 0.2
"""The interval at which people check the table."""
REACT_S = 2.0
"""The time for which a condition must be wrong before people act.

Some conditions end without an action.
"""
BOARD_AWAY_S = 6.0
"""The time for which a board may be away before people check its cable."""
SCREEN_SILENT_S = 3.0
"""A screen without a new state for this time is dark."""
MEND_AFTER_S = 20.0
"""The time for which the lift may be late before a technician frees it."""

CHANGE_SET_CODES = {
    *("COUNT_SHORT", "COUNT_OVER", "HOPPER_NOT_EMPTY", "POCKET_NOT_EMPTY"),
    *("MISSING_CARD", "THIRD_COPY", "FOREIGN_BACK", "COUNT_WRONG"),
}
"""Faults that require another set, and a count of the old one."""
_BOARD_CODES = {
    *("LINE_LOST", "PORT_MISSING", "PORT_BUSY", "BOARD_SILENT", "WRONG_BOARD", "BOARDS_SWAPPED"),
    *("WRONG_KIND", "WRONG_PROTOCOL", "WRONG_FIRMWARE", "BACKEND_MISMATCH"),
}
"""Faults that require a check of a board's cable or power, or the right board at its place."""
_LIFT_CODES = ("STALL", "SENSOR_STUCK", "BOARD_REFUSED", "SUPPLY_LOW")
"""Alerts that name a reason why the lift does not rise."""
_LOOSE_CARD_CODES = frozenset({"POCKET_NOT_EMPTY", "PATH_NOT_CLEAR"})
"""Faults that require that a card is taken out and put back."""
_REASONS_BELOW = 300
_FAILED = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
_BOARD = re.compile(r"\b(dealer|reader)\b")


class CampaignPeople:
    """All simulated people at one table. They act until `is_over()` returns True.

    `on_hand(name)` and `on_action(fault)` are called for their actions (people_actions.py).
    """

    def __init__(
        self,
        host: TableHost,
        rng: random.Random,
        *,
        is_over: Callable[[], bool],
        on_hand: Callable[[str], None],
        on_action: Callable[[SimulatedFault], None],
    ) -> None:
        self._host, self._rng, self._cuts = host, rng, host.profile.cuts()
        self._is_over = is_over
        self._actions = PeopleActions(host, on_hand, on_action)
        self._memory = PeopleMemory()
        self._loop = asyncio.get_running_loop()
        self._state: PublicState | None = None
        self._state_received_s = self._loop.time()
        self._last_clearing: tuple[int | None, str] = (None, "")
        self._taken_attempt: int | None = None
        self._steps = {
            MachinePhase.EMPTY: self._begin,
            MachinePhase.COMMITTED: self._cut,
            MachinePhase.HELD: self._release,
            MachinePhase.RELEASED: self._take_and_load,
        }

    def observe(self, state: PublicState) -> None:
        """Record `state` as the state that the table's screen shows now."""
        self._state, self._state_received_s = state, self._loop.time()

    def new_deal(self) -> None:
        """Begin a new deal: set the count of its attempts to zero."""
        self._memory.new_deal()

    async def run(self) -> None:
        """Do the actions of people, one after the other, until `is_over()` returns True.

        Raises TableStuck if the table does not continue.
        """
        while not self._is_over():
            self._memory.check_progress(self._state, self._status_text)
            deed = self._next_action()
            if deed is not None:
                await deed
            await asyncio.sleep(LOOK_INTERVAL_S)

    def _next_action(self) -> PeopleAction | None:
        """Return the action that people must do now, or None if there is none or they must wait."""
        silent_s = self._loop.time() - self._state_received_s
        if self._host.table is None or silent_s > SCREEN_SILENT_S:
            # A person starts the daemon if the screen is dark and the daemon needs that.
            waits = "daemon" in self._host.needs_person and silent_s > SCREEN_SILENT_S + REACT_S
            may_start = waits and self._memory.may_retry("start_daemon")
            return self._actions.act("start_daemon") if may_start else None
        state, truth = self._state, self._host.sim.world.truth()
        if state is None:
            return None
        self._memory.notice(state, truth)
        if self._memory.has_lasted("STORAGE_FAILED", REACT_S):
            # Without room on the disk no other action helps.
            full = "disk" in self._host.needs_person and self._memory.may_retry("make_room")
            return self._actions.act("make_room") if full else None
        looks = [self._check_safety, self._check_boards, self._handle_failure]
        if state.machine.phase in self._steps:
            looks.append(self._steps[state.machine.phase])
        deeds = (look(state, truth) for look in looks)
        return next((deed for deed in deeds if deed is not None), None)

    # Faults and alerts. Each method returns None if people need not act, or must wait first.

    def _check_safety(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        """Return the action that puts e-stop, lid or sensors right, or None if none is due."""
        if self._memory.has_lasted("estop pressed", REACT_S):
            return self._actions.act("release_estop")
        if self._memory.has_lasted("lid open", REACT_S):
            return self._actions.act("close_lid")
        # A sensor is wrong if the table reports an open lid that is closed, or a pressed emergency
        # stop that is not pressed.
        lies = (not truth.lid_open and self._memory.has_lasted("LID_OPENED", MEND_AFTER_S)) or (
            not truth.estop and self._memory.has_lasted("ESTOP_PRESSED", MEND_AFTER_S)
        )
        held = state.machine.phase is MachinePhase.HELD
        return self._actions.mend() if lies and held and self._memory.may_retry("mend") else None

    def _check_boards(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        """Return the action that plugs a board in or sends its settings, or None if none is due."""
        for alert in state.alerts:
            if not self._memory.has_lasted(alert.name, BOARD_AWAY_S):
                continue
            told = _BOARD.findall(alert.cause)
            names = tuple(name for name in BOARDS if name in told)
            away = alert.name in _BOARD_CODES
            if away and names and self._memory.may_retry(f"plug_in {names}"):
                return self._actions.plug_in(names)
            if alert.name == "WRONG_SETTINGS":
                return self._actions.command("configure", Role.TECHNICIAN, action_name="configure")
        return None

    def _handle_failure(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        """Return the action that a failed attempt or a barred set requires, or None to wait."""
        if state.machine.phase not in (MachinePhase.FAULT, MachinePhase.EMPTY):
            return None
        names = {alert.name for alert in state.alerts}
        reasons = {name for name in names if fault_catalogue()[name].code < _REASONS_BELOW}
        if not reasons:
            loaded = state.machine.card_set
            barred = [one.id for one in state.sets if one.barred]
            for name in barred:
                if name != loaded and self._memory.may_retry(f"count {name}"):
                    return self._actions.count_set(name)
            long = self._memory.has_lasted("SET_BARRED", REACT_S)
            if loaded in barred and long and self._memory.may_retry(f"barred {loaded}"):
                return self._actions.change_set(state.machine.card_set or SETS[0].id)
            return None
        if max(self._memory.duration_s(name) for name in reasons) < REACT_S:
            return None
        if self._memory.may_retry(f"clear {state.machine.attempt}"):
            return self._clear_up(state, reasons)
        # After the cards are back, a person acknowledges the emergency stop.
        if "ESTOP_PRESSED" in reasons and not truth.estop and self._memory.may_retry("acknowledge"):
            return self._actions.acknowledge("ESTOP_PRESSED")
        return None

    def _clear_up(self, state: PublicState, reasons: set[str]) -> PeopleAction:
        """Return the action after a failed attempt: collect all cards, or load another set.

        Another set is loaded once if `reasons` or two full trays in succession require it.
        """
        attempt, before = state.machine.attempt, self._last_clearing
        last = [proof.reasons for proof in state.fairness[-2:]]
        tray_full_again = len(last) == 2 and all("TRAY_FULL" in named for named in last)
        another = reasons & CHANGE_SET_CODES or tray_full_again
        self._last_clearing = (attempt, "changed" if another else "back")
        if another and before != self._last_clearing:
            return self._actions.change_set(state.machine.card_set or SETS[0].id)
        return self._actions.collect(state.machine.card_set)

    # The steps of a deal. Each method returns None if people need not act, or must wait first.

    def _begin(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        """Return the next action for a new deal, for example `start_deal`, or None if none is due.

        After a failed attempt the machine begins again, or waits for a referee's command.
        """
        if not state.fairness or state.fairness[-1].outcome not in _FAILED:
            return self._actions.command("start_deal", Role.REFEREE)
        if any(one.barred and one.id == state.machine.card_set for one in state.sets):
            return None
        called = self._memory.has_lasted("TWO_MISDEALS", REACT_S)
        if called and self._last_clearing[0] != state.machine.attempt:
            # A person comes and checks cards and machine.
            return self._clear_up(state, set(state.fairness[-1].reasons))
        idle = called or self._memory.has_lasted("nothing begins", RETRY_AFTER_S)
        if idle and self._memory.may_retry("start"):
            return self._actions.command("start_deal", Role.REFEREE, action_name="start_deal")
        return None

    def _cut(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        return self._actions.command("cut", Role.TABLE, n=self._rng.choice(self._cuts))

    def _release(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        """Return the action for the release (repair, or send `release`), or None to wait."""
        memory = self._memory
        if memory.has_lasted("SET_TOO_EARLY", REACT_S) and memory.may_retry("free hopper"):
            return self._actions.free_hopper()
        stopped = any(memory.has_lasted(name, REACT_S) for name in _LIFT_CODES)
        if stopped and memory.may_retry("mend"):
            return self._actions.mend()
        return self._actions.command("release", Role.REFEREE)

    def _take_and_load(self, state: PublicState, truth: Truth) -> PeopleAction | None:
        """Return the action after a release, such as taking the hands, or None if none is due.

        The set is put back when the lift is down. A machine that does not continue is repaired.
        """
        first = self._taken_attempt != state.machine.attempt
        if truth.lift_up and any(truth.pockets[:4]):
            self._taken_attempt = state.machine.attempt
            if first:
                return self._actions.take_hands()
            left = self._memory.has_lasted("cards left", REACT_S)
            return self._actions.act("take_out") if left else None
        if truth.lift_down and (any(truth.hands) or truth.table):
            return self._actions.load()
        if not self._memory.has_lasted("waiting", MEND_AFTER_S):
            return None
        if not state.alerts:
            # The machine neither continues nor shows an alert. Either the set was put back, or a
            # lift that the machine takes for down is half way up.
            if first or not self._memory.may_retry("look after it"):
                return None
            return self._actions.collect() if truth.lift_down else self._actions.mend()
        lying = _LOOSE_CARD_CODES.intersection(alert.name for alert in state.alerts)
        if lying and truth.lift_down and not first and self._memory.may_retry("collect"):
            return self._actions.collect()
        return self._actions.mend() if self._memory.may_retry("mend") else None

    def _status_text(self) -> str:
        """Return the status of the table as text, for the message of TableStuck."""
        state = self._state
        if state is None:
            return "the screen never showed anything"
        alerts = ", ".join(sorted(alert.name for alert in state.alerts)) or "none"
        dark = ", the daemon is away" if self._host.table is None else ""
        return (
            f"phase {state.machine.phase.value}, attempt {state.machine.attempt}, "
            f"alerts {alerts}, last done {self._actions.last}{dark}"
        )

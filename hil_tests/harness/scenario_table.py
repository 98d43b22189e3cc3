"""The table of a scenario, on any target: its states, commands, buttons and people's actions."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import msgspec

from controller.commands.registry import COMMANDS
from controller.faults import fault
from controller.messages import (
    AttemptOutcome,
    CommandReply,
    MachinePhase,
    PublicEvent,
    PublicState,
    Role,
)
from controller.rules.profile import Profile
from drivers.typed_boards import DealerStatus
from hil_tests.harness.hands import TableHands
from hil_tests.harness.measurements import (
    Measurement,
    MeasurementLimits,
    TargetKind,
    make_measurement,
)
from hil_tests.harness.port_checks import BoardPorts, read_dealer_status
from hil_tests.harness.table_daemon import CounterValues, TableDaemon
from sim.tables.handled_table import SEAT_NAMES
from tests.answers import answer_once
from tests.waiting import until

CUT = 40
MACHINE_TIMEOUT_S = 50.0
"""Time limit in virtual time for each wait of a scenario."""
PERSON_TIMEOUT_S = 600.0
"""Time limit in real time, if a person may have to act first."""
FAULT_ECHO_S = 3.0
"""After this time the return of a board no longer counts as a fault."""
RETRY_INTERVAL_S = 0.5
"""Waiting time before people repeat a refused command."""
STANDSTILL_S = 1.2
"""More than the longest time between two cards of a deal. Afterwards the machine is at rest."""
LOOK_INTERVAL_S = 0.02
FAILED_OUTCOMES = (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)

StatePredicate = Callable[[PublicState], bool]


class ScenarioRecord(msgspec.Struct):
    """The steps and measurements of a scenario, for the report.

    `numbers` are counts by name, and `about` contains facts such as the scenario's name.
    """

    steps: list[str] = msgspec.field(default_factory=list)
    measurements: list[Measurement] = msgspec.field(default_factory=list)
    numbers: dict[str, float] = msgspec.field(default_factory=dict)
    about: dict[str, str] = msgspec.field(default_factory=dict)


class ScenarioTable:
    """The table on which one scenario runs, with its daemon, its people and its report.

    The target provides `program` and `hands`. A wait for a state can raise TimeoutError.
    `expected_alerts` are the permitted alerts. All others are findings after the scenario
    (scenario_end.py).
    """

    def __init__(
        self,
        program: TableDaemon,
        hands: TableHands,
        *,
        target: TargetKind,
        profile: Profile,
        limits: MeasurementLimits,
        notes: ScenarioRecord,
        ports: BoardPorts,
        session_ids: random.Random,
    ) -> None:
        """Store the daemon, the people and the other parts of the table of one scenario.

        `ports` lead to the boards while no daemon runs. `session_ids` draws session numbers.
        """
        self.daemon, self.hands, self.target = program, hands, target
        self.ports, self._session_ids = ports, session_ids
        self.profile, self.limits, self.record = profile, limits, notes
        self.expected_alerts: set[str] = set()
        self.last_counters: CounterValues = {}
        """The daemon's counters when they were last read."""
        self.first_card_set: str | None = None
        """The set in the hopper when the journal began."""
        self.cleared_attempts: set[int] = set()
        """Attempts whose cards were cleared up."""
        self._timeout_s = MACHINE_TIMEOUT_S if target == "inproc" else PERSON_TIMEOUT_S

    # -- state ---------------------------------------------------------------------

    @property
    def state(self) -> PublicState:
        """The newest public state."""
        return self.daemon.states[-1]

    @property
    def now_s(self) -> float:
        """The time by the loop's clock, in seconds."""
        return asyncio.get_running_loop().time()

    def expect_alerts(self, *alerts: str) -> None:
        """Permit alerts with these names in this scenario. Raises LookupError for unknown names."""
        self.expected_alerts.update(fault(name).name for name in alerts)

    def add_step(self, step: str) -> None:
        """Add the line `step` to the scenario's report."""
        self.record.steps.append(step)

    def measure(self, name: str, value: float) -> None:
        """Add a value of the quantity `name` to the report. Fail if it is not within its limit."""
        taken = make_measurement(name, value, self.limits, self.target)
        self.record.measurements.append(taken)
        assert taken.is_within_limit is not False, str(taken)

    async def until(self, fits: StatePredicate, what: str = "") -> PublicState:
        """Wait until `fits` is True for the newest state, and return that state.

        `what` is a name of the awaited state, for the message of the TimeoutError.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                while not (self.daemon.states and fits(self.state)):
                    await self.daemon.wait_for_news()
        except TimeoutError:
            where = self._state_text()
            raise TimeoutError(f"waited in vain for {what or 'a state'}: {where}") from None
        return self.state

    async def wait(self, for_s: float) -> None:
        """Wait for `for_s` seconds by the loop's clock."""
        ends_s = self.now_s + for_s
        await until(lambda: self.now_s >= ends_s)

    async def wait_for_phase(self, phase: MachinePhase) -> PublicState:
        """Wait until the machine is in `phase`, and return the public state in this phase."""
        return await self.until(lambda state: state.machine.phase is phase, f"phase {phase}")

    async def wait_for_alert(self, name: str) -> PublicState:
        """Permit the alert `name`, and wait until it is shown or is a reason of the last verdict.

        Return the public state that has the alert or the verdict.
        """
        self.expect_alerts(name)
        return await self.until(
            lambda state: (
                name in alert_names(state)
                or any(name in proof.reasons for proof in state.fairness[-1:])
            ),
            f"the alert {name}",
        )

    async def wait_for_place(self, name: str, place: str) -> None:
        """Wait for the alert `name`, and check that its text names `place`, the place of a jam."""
        state = await self.wait_for_alert(name)
        state = await self.until(lambda state: name in alert_names(state), f"the alert {name}")
        (cause,) = [alert.cause for alert in state.alerts if alert.name == name]
        words = fault(name)
        right = words.cause({"place": place})
        assert right != words.cause(None), f"the catalogue's {name} names no place"
        assert cause == right

    async def wait_for_quiet(self) -> PublicState:
        """Wait until the table shows no alert, and return the public state without alerts."""
        return await self.until(lambda state: not state.alerts, "the end of all alerts")

    async def watch_last_card(self) -> float:
        """Wait until no card has moved for STANDSTILL_S, and return when the last card moved.

        The result is in seconds after the call. Needs simulated people.
        """
        begun_s, moved_s = self.now_s, 0.0
        arrived = (await self.hands.read_truth())["arrived"]
        while self.now_s - begun_s < moved_s + STANDSTILL_S:
            await self.wait(LOOK_INTERVAL_S)
            now = (await self.hands.read_truth())["arrived"]
            if now != arrived:
                arrived, moved_s = now, self.now_s - begun_s
        return moved_s

    async def wait_for_event(self, kind: str, attempt: int | None) -> PublicEvent:
        """Wait for a public event with this `kind` and `attempt`, and return the first one."""
        while True:
            for event in self.daemon.events:
                if (event.kind, event.attempt) == (kind, attempt):
                    return event
            await self.daemon.wait_for_news()

    async def read_board_status(self) -> DealerStatus:
        """Return the dealer board's status. The daemon must not run. Raises BoardNotAnswering."""
        return await read_dealer_status(self.ports["dealer"], self._session_ids)

    # -- commands ------------------------------------------------------------------

    async def ask(self, role: Role, cmd: str, **args: Any) -> CommandReply:
        """Send a command about the deal and attempt of the newest state, and return the reply."""
        bound, known = COMMANDS[cmd].bound_to, self.state
        of_match = (known.match.deal, known.match.attempt)
        of_machine = (known.machine.deal, known.machine.attempt)
        meant = {"match": of_match, "machine": of_machine}.get(bound, (None, None))
        return await self.daemon.ask(role, cmd, meant, args)

    async def give_command(self, role: Role, cmd: str, **args: Any) -> dict[str, Any]:
        """Send a command, fail if it is refused, and return the result from the reply."""
        reply = await self.ask(role, cmd, **args)
        assert reply.ok, f"{cmd} {args}: {reply.error}"
        self.add_step(f"{role}: {cmd}")
        return reply.result or {}

    # -- a deal ----------------------------------------------------------------

    async def _command_until(self, fits: StatePredicate, role: Role, cmd: str, **args: Any) -> None:
        """Send a command, again after each refusal, until the newest state fulfils `fits`.

        After the command is accepted, only wait. The reason of a refusal may disappear by itself.
        """
        while not fits(self.state):
            if (await self.ask(role, cmd, **args)).ok:
                await self.until(fits, f"what follows from {cmd}")
            else:
                await self.wait(RETRY_INTERVAL_S)

    async def start_and_cut(self) -> int:
        """Start a deal and send the player's cut. Return the number of the attempt."""
        await self.until(
            lambda state: state.machine.phase in (MachinePhase.EMPTY, MachinePhase.COMMITTED),
            "a free machine",
        )
        await self._command_until(
            lambda state: state.machine.phase is MachinePhase.COMMITTED, Role.REFEREE, "start_deal"
        )
        number = self.state.machine.attempt
        assert number is not None
        await self.give_command(Role.TABLE, "cut", n=CUT)
        return number

    async def wait_for_verdict(self, number: int) -> PublicState:
        """Restore the usual speed, wait for the verdict on attempt `number`, return the state."""
        await self.hands.restore_speed()
        return await self.until(
            lambda state: any(
                proof.attempt == number and proof.outcome is not None for proof in state.fairness
            ),
            f"the verdict on attempt {number}",
        )

    async def play_attempt(self) -> PublicState:
        """Deal one attempt, and return the public state with the verdict on this attempt."""
        state = await self.wait_for_verdict(await self.start_and_cut())
        self.add_step(f"dealt: {_attempt_text(state)}")
        return state

    async def deal_to_held(self) -> PublicState:
        """Deal one attempt, and return the state with held hands. Fail if no hands are held."""
        state = await self.play_attempt()
        assert state.fairness[-1].outcome is AttemptOutcome.OK, _attempt_text(state)
        return await self.wait_for_phase(MachinePhase.HELD)

    async def deal_to_card(self, card: int) -> PublicState:
        """Begin an attempt at slow speed, and return the state with at least `card` cards fed."""
        slowed = asyncio.ensure_future(self.hands.slow_down())
        try:
            number = await self.start_and_cut()
            await self.until(
                lambda state: state.machine.phase is MachinePhase.DEALING, "the first card"
            )
            await slowed
        finally:
            slowed.cancel()
        return await self.until(
            lambda state: (
                state.machine.attempt == number
                and state.machine.phase is MachinePhase.DEALING
                and state.machine.fed >= card
            ),
            f"card {card}",
        )

    async def disturb_deal(self, step: str, card: int) -> PublicState:
        """Deal one attempt slowly. When `card` cards are fed, have people do the step `step`.

        Return the public state with the verdict on this attempt.
        """
        await self.hands.prepare_step(step)
        state = await self.deal_to_card(card)
        await self.hands.signal_step(step)
        return await self.wait_for_verdict(state.machine.attempt or 0)

    async def release_and_take(self) -> None:
        """Release the held hands, and take them out of the machine."""
        await self.give_command(Role.REFEREE, "release")
        await self.wait_for_phase(MachinePhase.RELEASED)
        await self.hands.do_step("take_hands")

    async def return_set(self) -> PublicState:
        """Have people put the played cards back. Return the state with the complete proof."""
        await self.hands.do_step("put_back")
        return await self.until(
            lambda state: state.fairness[-1].reveal is not None, "the proof's reveal"
        )

    # -- buttons ---------------------------------------------------------------

    async def tap(self, button: str) -> None:
        """Press the start button (`start`), or the green button of a seat (the seat's letter)."""
        named = {str(seat): f"{word}_green" for seat, word in SEAT_NAMES.items()}
        await self.hands.press_button(named.get(button, button))

    # -- after a fault -------------------------------------------------------------

    async def clear_up(self) -> None:
        """Have people put a set into the hopper after a failed attempt.

        If a reason of the verdict means that the set may be incomplete, this is a counted set. Then
        a referee also sends the command `clear_set`.
        """
        proof = self.state.fairness[-1]
        self.cleared_attempts.add(proof.attempt)
        self.expect_alerts("LID_OPENED")
        doubt = any(not fault(name).counts_hold for name in proof.reasons)
        await self.hands.do_step("fresh_set" if doubt else "clear_up")
        if doubt:
            await self.wait_for_alert("SET_BARRED")
            counted = {"set": self.state.machine.card_set, "cards": self.profile.deck.cards}
            await self._command_until(
                lambda state: "SET_BARRED" not in alert_names(state),
                Role.REFEREE,
                "clear_set",
                **counted,
            )

    async def wait_for_change(self, before: PublicState) -> None:
        """Wait until the phase, the attempt, its proof or the alerts differ from `before`."""
        seen = _progress(before)
        await self.until(lambda state: _progress(state) != seen, "something else")

    # -- starts and ends of the daemon ---------------------------------------------

    async def start(self) -> None:
        """Start the daemon, and wait until both boards are connected or an alert is shown.

        Earlier counts of the serial lines do not belong to the scenario.
        """
        told = len(self.daemon.states)
        await self.daemon.start()
        await self.until(lambda state: len(self.daemon.states) > told, "the daemon's first state")
        await self.until(
            lambda state: state.machine.phase is not MachinePhase.FAULT or bool(state.alerts),
            "both boards",
        )
        self.last_counters = await answer_once(
            self.daemon.read_counters,
            lambda numbers: (
                all(numbers.get(f"sessions {board}") for board in self.ports)
                or alert_names(self.state)  # A board is missing, and an alert reports it.
            ),
        )
        self.first_card_set = self.first_card_set or self.state.machine.card_set

    async def stop(self) -> None:
        """Add the daemon's counters to the report, then stop the daemon."""
        if self.last_counters:
            await self.add_counters()
        self.last_counters = {}
        await self.daemon.stop()

    async def kill(self, *, power: bool = False) -> None:
        """Add the daemon's counters to the report, then kill the daemon.

        With `power`, the daemon's data in memory, such as keys, are lost too.
        """
        await self.add_counters()
        self.last_counters = {}
        await self.daemon.kill(power=power)

    async def lose_power(self) -> None:
        """Cut the power: kill the daemon, delete its data in memory, and do the step `cut_power`.

        This step must be prepared before (`TableHands.prepare_step`).
        """
        await self.kill(power=True)
        await self.hands.signal_step("cut_power")

    async def add_counters(self) -> None:
        """Read the daemon's counters, and add to the report how much they have grown."""
        numbers, sums = await self.daemon.read_counters(), self.record.numbers
        for name, value in numbers.items():
            before = self.last_counters.get(name, 0.0)
            moved = value - before if value >= before else value  # Otherwise it restarted at 0.
            if moved:
                sums[name] = sums.get(name, 0.0) + moved
        self.last_counters = numbers

    async def wait_for_faults_end(self) -> dict[str, Any]:
        """Return the simulator's faults. If a fault is active, first wait FAULT_ECHO_S for its end.

        The fault of a lost board stays active for a short time after the board's return.
        """
        known = await self.hands.read_faults()
        if known["in_force"]:
            await self.wait(FAULT_ECHO_S)
            known = await self.hands.read_faults()
        return known

    def _state_text(self) -> str:
        if not self.daemon.states:
            return "no state was received"
        state = self.state
        return (
            f"{state.machine.phase}, attempt {state.machine.attempt}, fed {state.machine.fed}, "
            f"alerts {sorted(alert_names(state))}, {_attempt_text(state)}"
        )


def alert_names(state: PublicState) -> set[str]:
    """Return the names of the alerts that a public state contains."""
    return {alert.name for alert in state.alerts}


def _attempt_text(state: PublicState) -> str:
    """Return one line about the last attempt in a public state: number, outcome and reasons."""
    if not state.fairness:
        return "no attempt"
    proof = state.fairness[-1]
    why = f" ({', '.join(proof.reasons)})" if proof.reasons else ""
    return f"attempt {proof.attempt} {proof.outcome or 'under way'}{why}"


def _progress(state: PublicState) -> object:
    proof = state.fairness[-1] if state.fairness else None
    return state.machine.phase, state.machine.attempt, proof, alert_names(state)

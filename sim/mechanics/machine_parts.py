"""The parts of the simulated machine, `MachineParts`: motors, sensors, and places for cards."""

import asyncio
import random
from collections.abc import Callable

from drivers.firmware.pins import LIFT_STAY, STOP
from drivers.firmware.protocol import HOPPER
from sim.mechanics.cards import Cards, FillingTally, PhysicalCard, new_set
from sim.mechanics.fault_schedule import FaultSchedule
from sim.mechanics.feeder import Feeder
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.motion import MechanicalClock, Motor
from sim.mechanics.pockets import TRAY, Lift, Pockets
from sim.mechanics.sensors import DEALER_INPUTS, READER_INPUTS, Sensors
from sim.mechanics.shuffler import Shuffler
from sim.mechanics.window import EngineAnswer, Gate, ReadingEngine, Window

# The rest value of each motor, which is not a start. With None every value is a start: for the
# gate, 0 is a position.
REST_VALUES = {"feed": STOP, "pass": STOP, "gate": None, "shuffle": STOP, "lift": LIFT_STAY}
# The delay of an extra pulse on the trigger wire after a card's own pulse.
EXTRA_PULSE_MS = 8.0


class MachineParts:
    """One machine without people: its parts, its wires, and the schedule of its faults.

    Boards read `dealer` and `reader` (their sensors), and call `set_output` and `shoot`. All
    randomness comes from `rng`, so that a seed reproduces a machine. `tally` counts the cards of
    this filling of the hopper. Create it while a loop runs. `close()` cancels its timers.
    """

    def __init__(self, settings: MechanicsSettings, rng: random.Random) -> None:
        self.clock = MechanicalClock(asyncio.get_running_loop(), settings.speed)
        self.dealer = Sensors(DEALER_INPUTS)
        self.reader = Sensors(READER_INPUTS)
        self.answer_listeners: list[Callable[[EngineAnswer], None]] = []
        self.rng = rng
        self.tally = FillingTally()
        self.faults = FaultSchedule(rng, self.tally, self.clock.now_s)
        self.hopper: list[PhysicalCard] = []
        self.lid_open = False
        self.estop = False
        self.cards_made = 0
        self._sets: list[range] = []
        self._build(settings)

    def set_output(self, name: str, value: int) -> None:
        """Set an output of the dealer or the reader board.

        Raises KeyError for an unknown output.
        """
        self._outputs[name](value)

    def board_lost_power(self, outputs: tuple[str, ...]) -> None:
        """Record that the board with these outputs lost its power, so that it drives no motor."""
        for name in outputs:
            if name in self.motors:
                self.motors[name].set_drive(None)

    def set_lid(self, is_open: bool) -> None:
        """Open or close the lid. Its contact cuts the motors' power."""
        self.lid_open = is_open
        self._update_power()
        self.dealer.set_physical("lid", int(is_open))

    def set_estop(self, pressed: bool) -> None:
        """Press or release the emergency stop. Its contact cuts the motors' power."""
        self.estop = pressed
        self._update_power()
        self.dealer.set_physical("estop", int(pressed))

    def new_set(self, count: int, back: int, faces: int) -> Cards:
        """Return a new set of cards, in the order of the box."""
        cards = new_set(self.cards_made, count, back, faces)
        self._sets.append(range(self.cards_made, self.cards_made + count))
        self.cards_made += count
        return cards

    def ids_of_set(self, cards: Cards) -> range:
        """Return the ids of the original set that most of these cards belong to."""
        return max(self._sets, key=lambda ids: sum(card.id in ids for card in cards))

    def belongs_to_set(self, card: PhysicalCard) -> bool:
        """Return True if a card came in the box of a set and was not added later."""
        return any(card.id in ids for ids in self._sets)

    def make_card(self, face: int, back: int) -> PhysicalCard:
        """Return one card that was not in the world before."""
        self.cards_made += 1
        return PhysicalCard(self.cards_made - 1, face, back)

    def hopper_changed(self) -> None:
        """Update feeder and shuffler after cards were put into the hopper or taken out of it."""
        self.feeders[HOPPER].stack_changed()
        if self.hopper:
            self.shuffler.hopper_filled()

    def close(self) -> None:
        """Stop the machine and cancel all of its timers."""
        for motor in self.motors.values():
            motor.set_power(False)
        self.clock.close()

    def _build(self, settings: MechanicsSettings) -> None:
        clock, sensors = self.clock, self.dealer
        self.gate = Gate(clock, sensors, settings.gate_ms)
        self.lift = Lift(clock, sensors, settings.lift_ms)
        self.pockets = Pockets(
            clock,
            sensors,
            settings=settings,
            rng=self.rng,
            schedule=self.faults,
            tally=self.tally,
            is_lift_down=lambda: self.lift.is_down,
        )
        self.window = Window(
            clock, sensors, self.gate, self.faults, settings.pass_ms, self.pockets.launch
        )
        self.feeders = (
            self._make_feeder("feeder", self.hopper, settings, self._sense_hopper),
            self._make_feeder("tray_feeder", self.pockets.stacks[TRAY], settings, self._sense_tray),
        )
        self.pockets.tray_changed = self.feeders[1].stack_changed
        self.shuffler = Shuffler(
            clock, sensors, self.hopper, self.rng, settings.shuffle_ms, self.hopper_changed
        )
        self.engine = ReadingEngine(
            clock, self.window, self.faults, self.rng, settings.read_ms, self._publish_answer
        )
        self._wire_outputs()

    def _make_feeder(
        self,
        name: str,
        stack: list[PhysicalCard],
        settings: MechanicsSettings,
        sense: Callable[[], None],
    ) -> Feeder:
        return Feeder(
            name,
            stack,
            self.window,
            clock=self.clock,
            settings=settings,
            rng=self.rng,
            schedule=self.faults,
            tally=self.tally,
            sense=sense,
        )

    def _wire_outputs(self) -> None:
        self._source = HOPPER
        self._feed_value: int | None = None
        drives = {
            "feed": self._drive_feed,
            "pass": self.window.drive,
            "gate": self.gate.drive,
            "shuffle": self.shuffler.drive,
            "lift": self.lift.drive,
        }
        self.motors = {
            name: Motor(drive, rest_value=REST_VALUES[name]) for name, drive in drives.items()
        }
        self._outputs: dict[str, Callable[[int], None]] = {
            name: motor.set_drive for name, motor in self.motors.items()
        }
        self._outputs["source"] = self._select_source
        self._outputs["trigger"] = self._forward_pulse
        self._outputs["shoot"] = self.engine.shoot

    def _select_source(self, value: int) -> None:
        source = int(bool(value))
        if source != self._source:
            driven, self._feed_value = self._feed_value, None
            self.feeders[self._source].drive(None)
            self._source = source
            self._drive_feed(driven)

    def _drive_feed(self, value: int | None) -> None:
        self._feed_value = value
        self.feeders[self._source].drive(value)

    def _forward_pulse(self, value: int) -> None:
        """Carry an edge of the trigger wire to the reader board."""
        if value and self.faults.strike("pulse_lost"):
            return
        self.reader.set_physical("pulse", value)
        if value and self.faults.strike("pulse_extra"):
            self.clock.after(EXTRA_PULSE_MS, lambda: self.reader.set_physical("pulse", 1))
            self.clock.after(EXTRA_PULSE_MS + 1, lambda: self.reader.set_physical("pulse", 0))

    def _sense_hopper(self) -> None:
        self.dealer.set_physical("hopper", int(self.feeders[0].is_occupied))

    def _sense_tray(self) -> None:
        seen = int(self.feeders[1].is_occupied)
        self.dealer.set_physical("tray_feed", seen)
        self.dealer.set_physical(f"pocket_{TRAY}", seen)

    def _update_power(self) -> None:
        on = not (self.lid_open or self.estop)
        for motor in self.motors.values():
            motor.set_power(on)

    def _publish_answer(self, answer: EngineAnswer) -> None:
        for told in list(self.answer_listeners):
            told(answer)

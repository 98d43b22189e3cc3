"""The parts of the simulated machine, `MachineParts`: motors, sensors, and places for cards."""

import asyncio
import random
from collections.abc import Callable

from drivers.firmware.pins import LIFT_STAY, STOP
from drivers.firmware.protocol import HOPPER
from sim.mechanics.cards import Cards, FillingTally, PhysicalCard, new_set
from sim.mechanics.fault_schedule import FaultSchedule
from sim.mechanics.feeder import Feeder
from sim.mechanics.mechanics_settings import MechanicsSettings, SharedParts
from sim.mechanics.motion import MechanicalClock, Motor
from sim.mechanics.pockets import TRAY, Lift, Pockets
from sim.mechanics.sensors import DEALER_INPUTS, READER_INPUTS, Sensors
from sim.mechanics.shuffler import Shuffler
from sim.mechanics.window import EngineAnswer, Gate, ReadingEngine, Window

# The delay of an extra pulse on the trigger wire after a card's own pulse.
EXTRA_PULSE_MS = 8.0


class MachineParts:
    """The parts of one machine, with their wires and the schedule of their faults.

    People are not included. Boards read `dealer` and `reader` (their sensors), and call
    `set_output`. All randomness comes from `rng`, so that a seed reproduces a machine. `tally`
    counts the cards of this filling of the hopper. An event loop must run when the parts are
    created. `close()` cancels their timers.
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
        shared = SharedParts(self.clock, self.dealer, settings, self.rng, self.faults, self.tally)
        self.gate = Gate(shared)
        self.lift = Lift(shared)
        self.pockets = Pockets(shared, self.lift)
        self.window = Window(shared, self.gate, self.pockets.launch)
        tray = self.pockets.stacks[TRAY]
        self.feeders = (
            Feeder(shared, "feeder", self.hopper, self.window, self._sense_hopper),
            Feeder(shared, "tray_feeder", tray, self.window, self._sense_tray),
        )
        self.pockets.tray_changed = self.feeders[1].stack_changed
        self.shuffler = Shuffler(shared, self.hopper, self.hopper_changed)
        self.engine = ReadingEngine(shared, self.window, self._publish_answer)
        self._wire_outputs()

    def set_output(self, name: str, value: int) -> None:
        """Set the output pin `name` of the dealer or reader board to `value`.

        Raises KeyError for an unknown output.
        """
        self._outputs[name](value)

    def board_lost_power(self, outputs: tuple[str, ...]) -> None:
        """Stop the motors of the output pins `outputs`, because their board has no power now."""
        for name in outputs:
            if name in self.motors:
                self.motors[name].set_drive(None)

    def set_lid(self, is_open: bool) -> None:
        """Open or close the lid. Its contact switches the motors' power off or on."""
        self.lid_open = is_open
        self._update_power()
        self.dealer.set_physical("lid", int(is_open))

    def set_estop(self, pressed: bool) -> None:
        """Press or release the emergency stop. Its contact switches the motors' power off or on."""
        self.estop = pressed
        self._update_power()
        self.dealer.set_physical("estop", int(pressed))

    def new_set(self, count: int, back: int, faces: int) -> Cards:
        """Return a new set of `count` cards, sorted as in a new box."""
        cards = new_set(self.cards_made, count, back, faces)
        self._sets.append(range(self.cards_made, self.cards_made + count))
        self.cards_made += count
        return cards

    def ids_of_set(self, cards: Cards) -> range:
        """Return the card ids of the set, as it was when new, to which most of `cards` belong."""
        return max(self._sets, key=lambda ids: sum(card.id in ids for card in cards))

    def belongs_to_set(self, card: PhysicalCard) -> bool:
        """Return True if `card` came in the box of a set and was not added by a fault."""
        return any(card.id in ids for ids in self._sets)

    def make_card(self, face: int, back: int) -> PhysicalCard:
        """Return one new card, which belongs to no set."""
        self.cards_made += 1
        return PhysicalCard(self.cards_made - 1, face, back)

    def hopper_changed(self) -> None:
        """Make feeder and shuffler react to a change of the cards in the hopper."""
        self.feeders[HOPPER].stack_changed()
        if self.hopper:
            self.shuffler.hopper_filled()

    def close(self) -> None:
        """Stop all motors and cancel all timers of the machine."""
        for motor in self.motors.values():
            motor.set_power(False)
        self.clock.close()

    def _wire_outputs(self) -> None:
        self._source = HOPPER
        self._feed_value: int | None = None
        self.motors = {
            "feed": Motor(self._drive_feed, rest_value=STOP),
            "pass": Motor(self.window.drive, rest_value=STOP),
            "gate": Motor(self.gate.drive, rest_value=None),  # 0 is a position of the gate
            "shuffle": Motor(self.shuffler.drive, rest_value=STOP),
            "lift": Motor(self.lift.drive, rest_value=LIFT_STAY),
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
        """Pass level `value` of the trigger wire to the reader. A fault may lose or add a pulse."""
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

"""The base class of the parts of the simulated machine, `MachinePart`."""

import random
from dataclasses import dataclass

from sim.mechanics.cards import FillingTally
from sim.mechanics.fault_schedule import FaultSchedule
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.motion import MechanicalClock
from sim.mechanics.sensors import Sensors


@dataclass(frozen=True)
class SharedParts:
    """The objects that all parts of one machine share. `sensors` are those of the dealer board."""

    clock: MechanicalClock
    sensors: Sensors
    settings: MechanicsSettings
    rng: random.Random
    schedule: FaultSchedule
    tally: FillingTally


class MachinePart:
    """A part of the simulated machine, with the objects that all parts share."""

    def __init__(self, shared: SharedParts) -> None:
        self._clock = shared.clock
        self._sensors = shared.sensors
        self._settings = shared.settings
        self._rng = shared.rng
        self._schedule = shared.schedule
        self._tally = shared.tally

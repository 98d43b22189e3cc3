"""A machine worked by hand: no board, no firmware, no controller."""

from collections.abc import Callable

from drivers.firmware.pins import LIFT_STAY, LIFT_UP
from sim.mechanics.window import EngineAnswer
from sim.mechanics.world import World

FORWARD, REVERSE, STOP = 1, 2, 0
TRAY = 4


class Bench:
    """A world whose motors are driven by the test, and whose sensors are written down."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen: list[tuple[str, int]] = []
        self.answers: list[EngineAnswer] = []
        world.dealer.attach(lambda name, value: self.seen.append((name, value)))
        world.answer_listeners.append(self.answers.append)

    def sees(self, name: str) -> int:
        return self.world.dealer.levels[name]

    async def until(self, name: str, value: int, limit_ms: float = 1000) -> bool:
        """Wait until a sensor says `value`; False when it does not within `limit_ms`."""
        waited = 0.0
        while self.sees(name) != value:
            if waited >= limit_ms:
                return False
            await self.world.clock.wait_ms(0.5)
            waited += 0.5
        return True

    async def feed(self, source: int = 0) -> bool:
        """Bring one card to the window."""
        self.world.set_output("source", source)
        self.world.set_output("feed", FORWARD)
        came = await self.until("window", 1, 200)
        self.world.set_output("feed", STOP)
        return came

    async def to(self, outlet: int) -> bool:
        """Let what stands in the window out to an outlet."""
        self.world.set_output("gate", outlet)
        await self.until("gate_at", outlet)
        self.world.set_output("pass", FORWARD)
        gone = await self.until("window", 0, 100)
        self.world.set_output("pass", STOP)
        return gone

    async def deal(self, outlet: int, source: int = 0) -> None:
        """Feed one card and let it land."""
        assert await self.feed(source)
        assert await self.to(outlet)
        await self.world.clock.wait_ms(100)

    async def read(self, shot: int = 1) -> EngineAnswer | None:
        """Let the engine look once; None when it does not answer."""
        already = len(self.answers)
        self.world.set_output("shoot", shot)
        await self.world.clock.wait_ms(50)
        return self.answers[already] if len(self.answers) > already else None

    async def raise_lift(self) -> None:
        self.world.set_output("lift", LIFT_UP)
        assert await self.until("lift", 1, 5000)

    async def leave_half_way(self) -> None:
        """Stop the lift between its ends."""
        self.world.set_output("lift", LIFT_UP)
        await self.pause(500)
        self.world.set_output("lift", LIFT_STAY)

    async def pause(self, ms: float = 100) -> None:
        await self.world.clock.wait_ms(ms)


Machine = Callable[..., Bench]

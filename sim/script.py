"""A script of the control socket: step after step, each behind what it waits for."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from sim.mechanics.world import World

CarryOut = Callable[[str, dict[str, Any]], Awaitable[Any]]


class ScriptStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step: what it waits for, in this order, and what is done then.

    `fillings`: until the hopper was filled so often more, that is so many deals on; `card`:
    until that card of the filling came to the window; `after_ms`: so long, by the machine's
    time. `do` and `with` (args) are a request as any other; without `do` it only waits.
    """

    fillings: int = 0
    card: int = 0
    after_ms: float = 0.0
    do: str | None = None
    args: dict[str, Any] = msgspec.field(default_factory=dict, name="with")


class ScriptError(ValueError):
    """A script that cannot be followed: which step, and why."""


async def run_script(world: World, steps: Sequence[Any], do: CarryOut) -> list[Any]:
    """Follow a script to its end; return what each of its requests gave.

    Raises ScriptError before the first step for one that is none, and for a request that is
    refused; what was done before it stays done.
    """
    try:
        script = msgspec.convert(steps, tuple[ScriptStep, ...])
    except msgspec.ValidationError as error:
        raise ScriptError(str(error)) from error
    results = []
    for number, step in enumerate(script, 1):
        await _wait_for_step(world, step)
        if step.do is not None:
            try:
                results.append(await do(step.do, step.args))
            except (ValueError, TypeError) as error:
                raise ScriptError(f"step {number}: {step.do}: {error}") from error
    return results


async def _wait_for_step(world: World, step: ScriptStep) -> None:
    """Wait until a step's moment has come."""
    filling = world.tally.filling + step.fillings
    changed = asyncio.Event()
    unwatch = world.dealer.observe(lambda name, value: changed.set())
    try:
        while world.tally.filling < filling or world.tally.arrived < step.card:
            changed.clear()
            await changed.wait()
    finally:
        unwatch()
    if step.after_ms > 0:
        await world.clock.wait_ms(step.after_ms)

"""The two Unix sockets of a simulated table: for control requests and for the panel's pins."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from inspect import isawaitable
from pathlib import Path
from typing import Any

import msgspec

from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.world import World
from sim.panel_contacts import PanelContacts

ServeClient = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class LineServer:
    """A server on the Unix socket `path`, which runs `serve` in a separate task for each client."""

    def __init__(self, path: Path, serve: ServeClient) -> None:
        self.path, self._serve_client = path, serve
        self._clients: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Start to listen at `path`. Replace a socket file that an earlier run did not remove."""
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, self.path)
        self.path.chmod(0o600)

    async def close(self) -> None:
        """Stop listening, and end every client's task."""
        if self._server is not None:
            self._server.close()
        clients = list(self._clients)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        self.path.unlink(missing_ok=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            await self._serve_client(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # The client disconnected, or close() ends the task.
        finally:
            self._clients.discard(task)
            writer.close()


CarryOut = Callable[[str, dict[str, Any]], Awaitable[Any]]


class ScriptStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a script: conditions to wait for, and then a request to carry out.

    The conditions are awaited in this order. `fillings`: the hopper was filled this many more times
    (one filling is one deal). `card`: this card of the filling reached the window. `after_ms`: this
    much of the machine's time has passed. `do` and `with` (args) are a control request. Without
    `do` the step only waits.
    """

    fillings: int = 0
    card: int = 0
    after_ms: float = 0.0
    do: str | None = None
    args: dict[str, Any] = msgspec.field(default_factory=dict, name="with")


class ScriptError(ValueError):
    """The error for a script that cannot be carried out. The text has the step and the reason."""


async def run_script(world: World, steps: Sequence[Any], do: CarryOut) -> list[Any]:
    """Carry out the control script `steps` in order, and return the results of its requests.

    `do` carries out one request. Raises ScriptError before the first step if the script is
    malformed. Also raises ScriptError if a request is refused. The earlier steps stay in effect.
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
    """Wait until all conditions of `step`, a step of a script, are met, one after the other."""
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


class ControlRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request at the control socket. `do` is its name. `args` (in JSON `with`) are its arguments.

    The answer has the same `id`.
    """

    do: str
    id: int = 0
    args: dict[str, Any] = msgspec.field(default_factory=dict, name="with")


class ControlAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to the request with the same `id`: a result, or a one-line error."""

    id: int
    ok: bool
    result: Any = None
    error: str | None = None


class ControlError(ValueError):
    """The error for a control request that cannot be carried out. The text is one line."""


RequestHandler = Callable[..., Awaitable[Any] | Any]


class ControlServer(LineServer):
    """The server of one table's control socket, which receives requests and sends answers.

    `handlers` has the requests of the machine, its people and its panel. The owner of the table
    adds the requests of the table itself.
    """

    def __init__(self, world: World, contacts: PanelContacts, path: Path) -> None:
        super().__init__(path, self._serve)
        self._world = world
        self.handlers: dict[str, RequestHandler] = {
            "truth": world.truth,
            "collect": world.people.collect,
            "take_hands": world.people.take_hands,
            "lay_down": world.people.lay_down,
            "gather": world.people.gather,
            "load": world.people.load,
            "put_right": world.people.put_right,
            "mix": lambda card_set, n: world.people.mix(card_set, int(n)),
            "change_set": self._change_set,
            "lid": lambda open: world.set_lid(bool(open)),
            "estop": lambda pressed: world.set_estop(bool(pressed)),
            "press": contacts.press,
            "release": contacts.release,
            "tap": contacts.tap,
            "pin": lambda number, level: contacts.set_pin(number, bool(level)),
            "pins": lambda: {"levels": contacts.levels, "lamps": contacts.lamps},
            "fault": lambda **fields: world.add_fault(msgspec.convert(fields, SimulatedFault)),
            "clear_faults": lambda name=None: world.faults.clear(name),
            "faults": lambda: {
                "struck": world.faults.past_strikes,
                "in_force": world.active_faults(),
            },
            "script": lambda steps: run_script(world, steps, self._carry_out),
            "speed": lambda value: world.clock.set_speed(float(value)),
        }

    async def answer(self, line: bytes) -> ControlAnswer:
        """Carry out the JSON request `line`. Return an answer with the result or an error."""
        try:
            request = msgspec.json.decode(line, type=ControlRequest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return ControlAnswer(0, False, error=f"no request: {error}")
        if request.do not in self.handlers:
            return ControlAnswer(request.id, False, error=self._unknown_request(request.do))
        try:
            return ControlAnswer(request.id, True, await self._carry_out(request.do, request.args))
        except (ValueError, TypeError) as error:
            return ControlAnswer(request.id, False, error=f"{request.do}: {error}")

    async def _carry_out(self, do: str, args: dict[str, Any]) -> Any:
        """Return the result of the handler of request `do`. Raises ValueError or TypeError."""
        if (handler := self.handlers.get(do)) is None:
            raise ControlError(self._unknown_request(do))
        result = handler(**args)
        return await result if isawaitable(result) else result

    def _unknown_request(self, do: str) -> str:
        return f"nothing is called {do!r}: {', '.join(self.handlers)}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line in reader:
            answer = await self.answer(line)
            writer.write(msgspec.json.encode(answer) + b"\n")
            await writer.drain()

    def _change_set(
        self, back: int | None = None, count: int | None = None, card_set: str | None = None
    ) -> Awaitable[None]:
        if back not in (None, 0, 1, 2) or not (count is None or 4 <= count <= 216):
            raise ControlError("back is 0 to 2, count 4 to 216")
        return self._world.people.change_set(back, count, card_set)


class PinServer(LineServer):
    """The server of a table's pins socket: it sends contact levels and receives output levels.

    sim/CONTROL.md describes the lines. Unknown lines are ignored.
    """

    def __init__(self, contacts: PanelContacts, path: Path) -> None:
        super().__init__(path, self._serve)
        self._contacts = contacts

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()

        def send_level(number: int, level: bool) -> None:
            writer.write(b"level %d %d %.6f\n" % (number, level, loop.time()))

        for number, level in self._contacts.levels.items():
            send_level(number, level)
        writer.write(b"ready\n")
        detach = self._contacts.attach(send_level)
        try:
            async for line in reader:
                self._handle_line(line.split())
        finally:
            detach()

    def _handle_line(self, words: list[bytes]) -> None:
        if words[:1] == [b"out"] and len(words) == 3:
            with suppress(ValueError):
                self._contacts.set_output(int(words[1]), words[2] == b"1")

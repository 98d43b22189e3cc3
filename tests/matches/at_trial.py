"""A table in this process and in virtual time, as people who play a match have it."""

from typing import Any

from controller.messages import CommandReply, PublicEvent, PublicState, Role, Seat
from controller.seats import SEATS
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.truth import Truth
from sim.tables.table_in_process import TableInProcess
from tests.matches.people import Eyes


class AtTrial:
    """People at a Trial: buttons by its pins, commands signed by their keys."""

    def __init__(self, trial: TableInProcess) -> None:
        self._trial = trial

    @property
    def states(self) -> list[PublicState]:
        """All states so far."""
        return self._trial.states

    @property
    def events(self) -> list[PublicEvent]:
        """All events so far."""
        return self._trial.events

    async def later(self) -> None:
        """Wait for a new state."""
        known = len(self.states)
        await self._trial.wait_for_state(lambda state: len(self.states) > known)

    async def ask(
        self, role: Role, cmd: str, about: tuple[int | None, int | None], args: dict[str, Any]
    ) -> CommandReply:
        """Give a signed command."""
        return await self._trial.send_command(role, cmd, about=about, **args)

    async def eyes(self) -> Eyes:
        """Look at the table."""
        truth = self._trial.sim.world.truth()
        return Eyes(
            lift_up=truth.lift_up,
            lift_down=truth.lift_down,
            in_pockets=any(truth.pockets[:4]),
            in_hands=any(truth.hands),
            on_table=bool(truth.table),
            in_hopper=bool(truth.hopper),
        )

    async def lift(self, *, is_up: bool) -> None:
        """Wait for the lift."""
        await self._trial.wait_until_seen(lambda truth: truth.lift_up if is_up else _is_free(truth))

    async def pockets(self) -> dict[Seat, tuple[int, ...]]:
        """Return the faces in the pockets."""
        truth = self._trial.sim.world.truth()
        return {seat: truth.faces_in(number) for number, seat in enumerate(SEATS)}

    async def press(self, seat: Seat) -> None:
        """Tap a green button."""
        await self._trial.press(seat, "green")

    async def hold(self, seat: Seat) -> None:
        """Hold a green button."""
        await self._trial.hold_button(seat)

    async def start(self) -> None:
        """Tap the start button."""
        await self._trial.press_start()

    async def hands(self, deed: str, *args: str) -> None:
        """Do something with the cards."""
        done = getattr(self._trial.people, deed)(*args)
        if done is not None:
            await done

    async def lid(self, *, is_open: bool) -> None:
        """Open or close the lid."""
        self._trial.sim.world.set_lid(is_open)

    async def fault(self, text: str) -> None:
        """Let something be wrong."""
        self._trial.sim.world.add_fault(parse_fault(text))


def _is_free(truth: Truth) -> bool:
    return truth.lift_down and not any(truth.pockets[:4])

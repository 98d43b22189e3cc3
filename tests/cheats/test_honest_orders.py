"""Nothing is found in the journal of an honest machine, nor on its feed, whatever people order."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from controller.commands.registry import COMMANDS, parse_args
from controller.journal.entries import public_event
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.machine.commands.command_request import CommandSigner, RequestedCommand
from controller.match.phase import DEAL_UNDER_WAY
from controller.messages import MachinePhase, Role
from controller.rules.profile_files import load_profile
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.cheats.evenings import STOPPED
from tests.cheats.honest_sessions import HonestSessions
from tests.cheats.rows import Rows, changed, of
from tests.machine.disturber import Args, Disturber
from tests.machine.stages import STAGES, ordered
from tests.machine.walk import Walk
from tests.match.table import BIG_TWO, GUANDAN
from tests.proof.browser import Browser

WALKS = 200
STEPS = 200
CORE_STEPS = 60
_OFTEN = ("call", "attend", "confirm", "hold", "resume", "claim_count", "recount", "out")
"""Orders whose meaning depends on who else stopped the table, or calls."""
_SELDOM = frozenset({"forfeit", "transfer", "dealt_by_hand", "void", "set_match", "start_match"})
"""Orders after which a match is over, or its machine has nothing to deal."""
_SOME = tuple(sorted(cmd for cmd, order in COMMANDS.items() if order.signed and cmd not in _SELDOM))
_BUSY = frozenset({MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING})
A_WHILE_S = 10.0
_DRAWS = 60
"""After so many orders that would be refused somebody gives up."""

Given = tuple[Role, str, Args]


class Orders(Disturber):
    """Somebody who gives orders that the table takes, one or two at once, and presses buttons."""

    async def act(self, at: TableInProcess) -> str:
        """Do one thing, and return what it was."""
        deed = self.pick(self._one, self._one, self._one, self._two, self._press, self._time)
        did: str = await deed(at)
        return did

    async def _one(self, at: TableInProcess) -> str:
        given = self._legal(at)
        if given is None:
            return "nothing can be ordered"
        role, cmd, args = given
        giving = self._give(role, cmd, **args)
        if cmd == "release":  # a lift may be stuck, and somebody mends it
            self._given.append(asyncio.ensure_future(giving))
        else:
            await giving
        return f"{role} {cmd} {args}"

    async def _two(self, at: TableInProcess) -> str:
        return " and ".join(await asyncio.gather(self._one(at), self._one(at)))

    def _legal(self, at: TableInProcess) -> Given | None:
        """Draw an order that the table would take now."""
        for _ in range(_DRAWS):
            cmd = self.pick(self.pick(*_OFTEN), self.pick(*_SOME))
            if self._chance.random() < 0.02:
                cmd = self.pick(*sorted(_SELDOM))
            role, args = self.pick(*sorted(COMMANDS[cmd].roles)), self.args(cmd, at.states[-1])
            asked = RequestedCommand(cmd, parse_args(cmd, args), CommandSigner(role.value, role))
            if at.machine.processor.refusal_of(asked) is None:
                return role, cmd, args
        return None


class Sequence(Walk):
    """A walk at the end of which its journal is checked, and what a console would have kept."""

    def __init__(self, seed: object, folder: Path, runtime_dir: Path, steps: int) -> None:
        chance = random.Random(f"orders {seed}")
        super().__init__(
            seed,
            load_profile(chance.choice((*GUANDAN, BIG_TWO))),
            folder,
            runtime_dir,
            steps=steps,
            ahead=chance.random() < 0.4,
            deaths=chance.choice((0.0, 0.0, 0.5)),
        )
        self.disturber = Orders(self.chance, self.give, self.again)

    async def _step(self, at: TableInProcess) -> None:
        """Order most while hands are out: a table is laid out, and deals, for most of the time."""
        self.disturbed = 0.7 if at.states[-1].match.phase in DEAL_UNDER_WAY else 0.2
        await super()._step(at)
        if at.states[-1].machine.phase in _BUSY:
            await asyncio.sleep(A_WHILE_S)

    async def _calm(self, at: TableInProcess) -> bool:
        """End where the walk stands."""
        return True

    def _at_end(self) -> None:
        """See what was written; what was published may be behind it."""
        self.scene.check()


def findings(folder: Path) -> Iterator[str]:
    """Yield what is found in a journal, and by browsers in the feed of its table."""
    yield from map(str, verify(folder).findings)
    store = JournalStore.open(folder)
    try:
        told = [public_event(one, "T01", True) for one in store.entries() if one.entry.public]
    finally:
        store.close()
    seen = Browser().check([msgspec.to_builtins(event) for event in told])
    yield from map(str, seen["findings"])
    yield from (str(found) for one in seen["attempts"] for found in one["findings"])


CHIEF, REFEREE, TABLE = Role.CHIEF, Role.REFEREE, Role.TABLE
_Said = tuple[str, Args]
_HOLD: _Said = ("hold", {"reason": "somebody fell"})
_RESUME: _Said = ("resume", {})
_COUNTS: Args = {"counts": {"N": 27, "W": 27, "S": 27, "E": 27}}
ORDERS: dict[str, tuple[tuple[Role, str, Args], ...]] = {
    "a call that is taken back": (
        (TABLE, "call", {"seat": "N"}),
        (TABLE, "confirm", {"seat": "N"}),
    ),
    "one referee stops the table twice": ((REFEREE, *_HOLD), (REFEREE, *_HOLD)),
    "two people stop the table, and one lets it go on": (
        (REFEREE, *_HOLD),
        (CHIEF, *_HOLD),
        (REFEREE, *_RESUME),
    ),
    "two people stop the table, and both let it go on": (
        (REFEREE, *_HOLD),
        (CHIEF, *_HOLD),
        (REFEREE, *_RESUME),
        (CHIEF, *_RESUME),
    ),
    "a claimed count is stopped, and goes on": (
        (TABLE, "claim_count", {"seat": "N"}),
        (REFEREE, *_HOLD),
        (REFEREE, *_RESUME),
        (REFEREE, "recount", _COUNTS),
    ),
    "a table that is stopped is counted": (
        (TABLE, "claim_count", {"seat": "N"}),
        (CHIEF, *_HOLD),
        (REFEREE, "recount", _COUNTS),
        (CHIEF, *_RESUME),
    ),
    "the area is stopped, and the table": (
        (CHIEF, "hold", {"reason": "a fire", "area": True}),
        (REFEREE, *_HOLD),
        (CHIEF, "resume", {"area": True}),
        (REFEREE, *_RESUME),
    ),
    "the match leaves while the table is stopped": (
        (REFEREE, *_HOLD),
        (CHIEF, "transfer", {"table": "T02"}),
        (REFEREE, *_HOLD),
        (CHIEF, *_HOLD),
        (REFEREE, *_RESUME),
        (CHIEF, *_RESUME),
    ),
}
"""What people order one after the other; what is refused at a stage has no row of its own."""
CORE_STAGES = ("return",)
A_MOMENT_S = 1.0
LIFT_RISES_S = 0.3


async def _ordered(at: TableInProcess, stage: str, orders: tuple[Given, ...]) -> None:
    await STAGES[stage](at)
    for role, cmd, args in orders:
        await at.send_command(role, cmd, **args)
        await asyncio.sleep(A_MOMENT_S)


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize(
    "stage",
    [pytest.param(each, marks=() if each in CORE_STAGES else pytest.mark.slow) for each in STAGES],
)
def test_orders_that_leave_the_match_as_it_is_are_no_finding(
    stage: str, name: str, tmp_path: Path, runtime_dir: Path
) -> None:
    _spent(partial(_ordered, stage=stage, orders=ORDERS[name]), tmp_path, runtime_dir)
    assert [*findings(tmp_path)] == []


async def _by_hand_while_the_lift_rises(at: TableInProcess) -> None:
    await STAGES["held"](at)
    releasing = asyncio.ensure_future(at.send_command(REFEREE, "release"))
    await asyncio.sleep(LIFT_RISES_S)
    assert at.states[-1].machine.phase is MachinePhase.HELD
    await ordered(at, REFEREE, "dealt_by_hand", reason="a card lay open")
    await releasing
    await asyncio.sleep(A_WHILE_S)


async def _goes_on_behind_its_verdict(at: TableInProcess) -> None:
    await STAGES["result"](at)
    await ordered(at, REFEREE, "confirm")
    await ordered(at, CHIEF, "forfeit", side="EW", reason="they leave")
    await asyncio.sleep(A_WHILE_S)
    assert any(event.kind == "record" for event in at.events)
    await ordered(at, CHIEF, "reject", ruling=at.states[-1].match.rulings[-1].id)
    at.lay_down()
    at.people.load()
    await asyncio.sleep(A_WHILE_S)
    await ordered(at, REFEREE, "start_deal")
    await asyncio.sleep(A_WHILE_S)
    assert at.states[-1].machine.phase is MachinePhase.COMMITTED


@pytest.mark.parametrize("people", [_by_hand_while_the_lift_rises, _goes_on_behind_its_verdict])
def test_what_happens_at_unusual_moments_is_no_finding(
    people: Callable[[TableInProcess], Awaitable[None]], tmp_path: Path, runtime_dir: Path
) -> None:
    _spent(people, tmp_path, runtime_dir)
    assert [*findings(tmp_path)] == []


def _spent(
    people: Callable[[TableInProcess], Awaitable[None]], folder: Path, runtime_dir: Path
) -> None:
    """Let people do something at a table whose journal lies in `folder`."""

    async def run() -> None:
        store = JournalStore.open(folder)
        async with run_table_in_process(
            MechanicsSettings(), runtime_dir, store=store, state_dir=folder
        ) as at:
            await people(at)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(run())


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ("match", "Suspended"),
        ("match", "Resumed"),
        ("match", "AreaPaused"),
        ("match", "AreaResumed"),
        ("match", "CountClaimed"),
        ("match", "Recounted"),
        ("call", None),
        ("call_ended", None),
        ("pause", None),
        ("set_loaded", None),
        ("set_cleared", None),
    ],
)
async def test_an_order_without_the_row_that_it_made_is_found(
    honest: HonestSessions, kind: str, event: str | None
) -> None:
    left = await honest.spend(STOPPED)

    def take_out(rows: Rows) -> None:
        rows.remove(of(rows, kind) if event is None else of(rows, kind, event=event))

    report, _ = changed(left.state_dir, take_out)
    assert report.findings != []


def _walked(seed: object, folder: Path, runtime_dir: Path, steps: int = STEPS) -> Walk:
    """Walk, and assert that nothing is found behind the walk."""

    async def walk() -> Walk:
        walking = Sequence(seed, folder, runtime_dir, steps)
        await walking.run()
        return walking

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        walked = runner.run(walk())
    assert (seed, [*findings(walked.scene.state_dir)][:3]) == (seed, [])
    return walked


def test_a_walk_of_legal_orders_is_no_finding(tmp_path: Path, runtime_dir: Path) -> None:
    _walked(0, tmp_path / "walk", runtime_dir, CORE_STEPS)


@pytest.mark.slow
def test_whatever_people_order_an_honest_machine_is_accused_of_nothing(
    scale: Callable[[int], int], tmp_path: Path, runtime_dir: Path
) -> None:
    walks = [
        _walked(seed, tmp_path / str(seed), runtime_dir) for seed in range(1, 1 + scale(WALKS))
    ]
    assert sum(walk.hands_out for walk in walks) >= 2 * len(walks)

"""Blind routing: what routes a card has no room for a face, and does the same whatever they are."""

import ast
import asyncio
import inspect
import random
import typing
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from controller.deal import attempt, hands_lock, ledger, observations, sequence
from controller.deal.attempt import AttemptState
from controller.machine.attempts import card_loop
from controller.machine.attempts.card_loop import CardLoop
from controller.messages import MachinePhase, Role
from sim.hardware_in_process import BOARDS
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop

BLIND: tuple[ModuleType, ...] = (
    card_loop,
    attempt,
    observations,
    ledger,
    hands_lock,
    sequence,
    observations,
)
OF_EVENTS = {"Outlet", "FeedSource"}
"""What of the boards' words the dealing loop knows: names of places, and no event."""
SEEN_OF_A_CARD = {"face", "face_up", "back", "confidence", "hands_of", "vault"}
ROOM = {
    int: {"index", "place", "upto", "passes", "expected", "board_fed", "reader_pulses"},
    str: {"outlet", "reason", "why", "route", "gated", "landed", "sequence"},
    bool: {
        *("doubled", "tray", "from_tray", "read", "hopper_empty", "path_empty", "tray_empty"),
        *("lift_down", "board_locked"),
    },
}
"""Every field that a value of the dealing loop has room in, by what it holds. One more needs a
thought: could a face be in it?"""
OF_MANY = {"pockets_seen", "board_landed", "set_faults", "reasons", "open_places", "cards"}


def values() -> Iterator[type[msgspec.Struct]]:
    """Every type that the dealing loop can be told, keeps, or asks for."""
    todo = [
        AttemptState,
        *typing.get_args(observations.Observation),
        *typing.get_args(observations.AttemptEffect),
    ]
    done: set[type[msgspec.Struct]] = set()
    while todo:
        kind = todo.pop()
        if kind in done:
            continue
        done.add(kind)
        yield kind
        hints = typing.get_type_hints(kind)
        todo += [each for hint in hints.values() for each in _structs(hint)]


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for inner in typing.get_args(hint):
        yield from _structs(inner)


def test_no_value_of_the_dealing_loop_has_room_for_a_face() -> None:
    for kind in values():
        assert kind.__module__.startswith("controller.deal."), kind
        for name, hint in typing.get_type_hints(kind).items():
            plain = {each for each in (hint, *typing.get_args(hint)) if each in ROOM}
            for each in plain if typing.get_origin(hint) is not tuple else ():
                assert name in ROOM[each], (kind, name)
            assert bytes not in (hint, *typing.get_args(hint)), (kind, name)
            if typing.get_origin(hint) is tuple:
                assert name in OF_MANY, (kind, name)


def test_of_a_look_it_is_told_the_verdict_alone() -> None:
    assert typing.get_type_hints(observations.CardVerdict) == {
        "index": int,
        "look": observations.LookOutcome,
        "why": str | None,
    }


def test_it_takes_values_and_never_a_boards_event() -> None:
    public = {
        name: inspect.signature(method)
        for name, method in vars(CardLoop).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }
    taken = {
        parameter.annotation
        for signature in public.values()
        for parameter in list(signature.parameters.values())[1:]
    }
    assert taken == {observations.Observation, str, int}


@pytest.mark.parametrize("module", BLIND, ids=lambda module: module.__name__)
def test_nothing_in_its_code_names_what_was_seen_of_a_card(module: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            assert node.module is not None
            assert not node.module.startswith(("controller.vault", "controller.cards"))
            assert node.module != "drivers.board_events" or names <= OF_EVENTS, names
            assert node.module != "controller.journal.packed_board_events"
        if isinstance(node, ast.Attribute):
            assert node.attr not in SEEN_OF_A_CARD, ast.unparse(node)
        if isinstance(node, ast.Name | ast.arg):
            name = node.id if isinstance(node, ast.Name) else node.arg
            assert name not in SEEN_OF_A_CARD, name


Line = list[tuple[float, str, bytes]]


async def said_on_the_wire(
    runtime_dir: Path, faces: Callable[[list[int]], list[int]], faults: tuple[str, ...], seed: int
) -> tuple[Line, Line]:
    """Deal once with other faces on the same cards; return every byte to either board, and back,
    with its moment."""
    settings = MechanicsSettings(faults=tuple(map(parse_fault, faults)))
    async with run_table_in_process(settings, runtime_dir, seed=seed) as at:
        out: Line = []
        back: Line = []
        _listen(at, out, back)
        hopper = at.sim.world.hopper
        other = faces([card.face for card in hopper])
        hopper[:] = [replace(card, face=face) for card, face in zip(hopper, other, strict=True)]
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        await at.wait_for_phase(MachinePhase.COMMITTED)
        await at.send_command(Role.TABLE, "cut", n=40)
        await at.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        return out, back


def _listen(at: TableInProcess, out: Line, back: Line) -> None:
    loop = asyncio.get_running_loop()

    def tap(into: Line, board: str) -> Callable[[bytes], Any]:
        def take(data: bytes) -> Any:
            into.append((loop.time(), board, data))
            return ((0.0, data),)

        return take

    for board in BOARDS:
        port = at.sim.port(board)
        port.to_board.distort, port.to_host.distort = tap(out, board), tap(back, board)


FAULTS: tuple[tuple[str, ...], ...] = (
    (),
    ("unreadable:at=9,times=4", "unreadable:at=60,times=1"),
    ("double_feed:at=20",),
)


@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: ",".join(faults) or "none")
def test_the_same_cards_with_other_faces_get_the_same_routes_at_the_same_moments(
    runtime_dir: Path, faults: tuple[str, ...]
) -> None:
    def mixed(faces: list[int]) -> list[int]:
        return random.Random("other faces").sample(faces, k=len(faces))

    said, heard = _in_a_loop_of_its_own(runtime_dir, list, faults)
    again, other = _in_a_loop_of_its_own(runtime_dir, mixed, faults)
    assert len(said) > 400
    assert said == again
    assert heard != other  # the reader did tell of other faces
    assert [one[:2] for one in heard] == [one[:2] for one in other]


def _in_a_loop_of_its_own(
    runtime_dir: Path, faces: Callable[[list[int]], list[int]], faults: tuple[str, ...]
) -> tuple[Line, Line]:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(said_on_the_wire(runtime_dir, faces, faults, seed=5))

"""Commands in a row: numbered in order, one outstanding, each settled at most once."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from drivers.board_events import Outlet
from drivers.firmware import protocol
from drivers.link import link_state
from drivers.link.frames import BoardReply, RouteCommand
from drivers.link.link_state import CommandQueue, PendingCommand


def route(index: int) -> PendingCommand:
    return PendingCommand(RouteCommand(1, index, Outlet.N))


def test_the_next_command_waits_for_the_acknowledgement_of_the_one_before() -> None:
    box = link_state.enqueue_command(link_state.enqueue_command(CommandQueue(), route(1)), route(2))
    assert box.current is None
    box = link_state.start_next_command(box)
    assert (box.last_number, box.current) == (1, route(1))
    assert link_state.start_next_command(box) == box
    box, settled = link_state.complete_command(box, 1)
    assert settled == route(1)
    box = link_state.start_next_command(box)
    assert (box.last_number, box.current, box.waiting) == (2, route(2), ())


def test_a_repeated_acknowledgement_settles_nothing() -> None:
    box = link_state.start_next_command(link_state.enqueue_command(CommandQueue(), route(1)))
    box, _ = link_state.complete_command(box, 1)
    assert link_state.complete_command(box, 1) == (box, None)
    box = link_state.start_next_command(link_state.enqueue_command(box, route(2)))
    assert link_state.complete_command(box, 1) == (box, None)


def test_after_the_last_number_comes_the_first_and_never_zero() -> None:
    box = link_state.start_next_command(
        link_state.enqueue_command(CommandQueue(last_number=65535), route(1))
    )
    assert box.last_number == 1
    assert [protocol.next_number(number) for number in (0, 1, 65534, 65535)] == [1, 2, 65535, 1]


async def test_a_command_whose_caller_is_gone_is_not_sent() -> None:
    waiter: asyncio.Future[BoardReply] = asyncio.get_running_loop().create_future()
    box = link_state.enqueue_command(
        link_state.enqueue_command(CommandQueue(), PendingCommand(route(1).command, waiter)),
        route(2),
    )
    waiter.cancel()
    box = link_state.start_next_command(box)
    assert (box.last_number, box.current) == (1, route(2))


@given(st.lists(st.sampled_from(("put", "acknowledge", "acknowledge again")), max_size=40))
def test_every_command_is_settled_once_and_in_order(steps: list[str]) -> None:
    box, made, settled, last = CommandQueue(), 0, [], 0
    for step in steps:
        if step == "put":
            made += 1
            box = link_state.enqueue_command(box, route(made))
        else:
            number = box.last_number if step == "acknowledge" else last
            box, done = link_state.complete_command(box, number)
            last = number
            settled += [] if done is None else [done]
        box = link_state.start_next_command(box)
        assert box.last_number == len(settled) + (box.current is not None)
    assert [*settled, *box.pending] == [route(index + 1) for index in range(made)]

"""Commands in a row: numbered in order, one outstanding, each settled at most once."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from drivers.events import Outlet
from drivers.firmware import wire
from drivers.link import outbox
from drivers.link.frames import BoardReply, RouteCommand
from drivers.link.outbox import CommandQueue, PendingCommand


def route(index: int) -> PendingCommand:
    return PendingCommand(RouteCommand(1, index, Outlet.N))


def test_the_next_command_waits_for_the_acknowledgement_of_the_one_before() -> None:
    box = outbox.enqueue_command(outbox.enqueue_command(CommandQueue(), route(1)), route(2))
    assert box.current is None
    box = outbox.start_next_command(box)
    assert (box.last_number, box.current) == (1, route(1))
    assert outbox.start_next_command(box) == box
    box, settled = outbox.complete_command(box, 1)
    assert settled == route(1)
    box = outbox.start_next_command(box)
    assert (box.last_number, box.current, box.waiting) == (2, route(2), ())


def test_a_repeated_acknowledgement_settles_nothing() -> None:
    box = outbox.start_next_command(outbox.enqueue_command(CommandQueue(), route(1)))
    box, _ = outbox.complete_command(box, 1)
    assert outbox.complete_command(box, 1) == (box, None)
    box = outbox.start_next_command(outbox.enqueue_command(box, route(2)))
    assert outbox.complete_command(box, 1) == (box, None)


def test_after_the_last_number_comes_the_first_and_never_zero() -> None:
    box = outbox.start_next_command(
        outbox.enqueue_command(CommandQueue(last_number=65535), route(1))
    )
    assert box.last_number == 1
    assert [wire.next_number(number) for number in (0, 1, 65534, 65535)] == [1, 2, 65535, 1]


async def test_a_command_whose_caller_is_gone_is_not_sent() -> None:
    waiter: asyncio.Future[BoardReply] = asyncio.get_running_loop().create_future()
    box = outbox.enqueue_command(
        outbox.enqueue_command(CommandQueue(), PendingCommand(route(1).command, waiter)), route(2)
    )
    waiter.cancel()
    box = outbox.start_next_command(box)
    assert (box.last_number, box.current) == (1, route(2))


@given(st.lists(st.sampled_from(("put", "acknowledge", "acknowledge again")), max_size=40))
def test_every_command_is_settled_once_and_in_order(steps: list[str]) -> None:
    box, made, settled, last = CommandQueue(), 0, [], 0
    for step in steps:
        if step == "put":
            made += 1
            box = outbox.enqueue_command(box, route(made))
        else:
            number = box.last_number if step == "acknowledge" else last
            box, done = outbox.complete_command(box, number)
            last = number
            settled += [] if done is None else [done]
        box = outbox.start_next_command(box)
        assert box.last_number == len(settled) + (box.current is not None)
    assert [*settled, *box.pending] == [route(index + 1) for index in range(made)]

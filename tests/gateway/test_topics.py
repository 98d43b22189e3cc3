"""Subscriptions: an observer cannot fill the gateway's memory with them, nor keep it busy."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog
import zmq
import zmq.asyncio

from controller.client.client import NoAnswer
from controller.client.discovery import Endpoints
from controller.gateway.admission import BAN_TIME_S, AdmittedKeys, ConnectedPeer
from controller.gateway.feed_socket import (
    BYTES_PER_TOPIC,
    MAX_TOPIC_BYTES,
    NO_PEER,
    SUBSCRIPTION_BURST,
    TopicLimits,
)
from controller.roster import NotAdmitted
from tests.gateway.scripted import Connect, MakeState, ScriptedMachine, identity

A, B = ConnectedPeer("a" * 40, "192.168.1.2"), ConnectedPeer("b" * 40, "192.168.1.3")
A_ELSEWHERE = ConnectedPeer(A.key, B.address)


def ask(topics: TopicLimits, peer: ConnectedPeer, *asked: str, at_s: float = 0.0) -> bool:
    return topics.accept(peer, [b"\x01" + topic.encode() for topic in asked], at_s)


@pytest.fixture
def topics() -> TopicLimits:
    return TopicLimits(["state/T01", "event/T01"])


def test_what_the_feed_has_may_be_asked_for_however_often(topics: TopicLimits) -> None:
    for number in range(int(SUBSCRIPTION_BURST)):
        assert ask(topics, A, ["", "state/", "state/T01", "event/T01", "e"][number % 5])


def test_a_console_of_a_large_hall_may_ask_for_every_tables_topics(topics: TopicLimits) -> None:
    hall = [f"{kind}/T{number:03}" for number in range(150) for kind in ("state", "event")]
    for again in range(5):  # at each connection
        assert all(ask(topics, A, topic, at_s=60.0 * again) for topic in hall)


def test_one_peer_may_not_ask_for_more_than_so_much_that_the_feed_has_not(
    topics: TopicLimits,
) -> None:
    most = MAX_TOPIC_BYTES // (400 + BYTES_PER_TOPIC)
    assert all(ask(topics, A, f"{number:0400}") for number in range(most))
    assert ask(topics, B, "x" * 400)
    assert ask(topics, A_ELSEWHERE, "y" * 400)  # the same key, and none of its flood
    assert not ask(topics, A, "x" * 399)


def test_what_no_connection_keeps_any_more_counts_no_more(topics: TopicLimits) -> None:
    for number in range(10 * MAX_TOPIC_BYTES // 400):
        topic = f"{number:0400}"
        assert ask(topics, A, topic, at_s=float(number))
        assert topics.accept(NO_PEER, [b"\x00" + topic.encode()], 0.0)


def test_a_client_cannot_take_back_what_its_other_connection_keeps(topics: TopicLimits) -> None:
    for number in range(10 * MAX_TOPIC_BYTES // 400):
        topic = f"{number:0400}".encode()
        if not topics.accept(A, [b"\x01" + topic], float(number)):
            return
        topics.accept(A, [b"\x00" + topic], float(number))
    pytest.fail("it was never told that it is too much")


def test_subscriptions_in_a_later_frame_count_too(topics: TopicLimits) -> None:
    frames = [b"\x02", *(b"\x01" + f"{number:0400}".encode() for number in range(100))]
    assert not topics.accept(A, frames, 0.0)


def test_no_peer_sends_on_and_on(topics: TopicLimits) -> None:
    sent = [topics.accept(A, [b"\x02"], 0.0) for _ in range(int(SUBSCRIPTION_BURST) + 1)]
    assert sent == [True] * int(SUBSCRIPTION_BURST) + [False]


class Hostile:
    """A subscriber with an admitted key and a socket that keeps nothing back."""

    def __init__(self, socket: zmq.asyncio.Socket) -> None:
        self.socket = socket

    async def until_barred(self, logs: Sequence[Any], frame: Callable[[int], list[bytes]]) -> None:
        """Send on until the gateway has had enough."""
        for number in itertools.count():
            await self.socket.send_multipart(frame(number))
            await asyncio.sleep(0)
            if any(log["event"].startswith("key barred") for log in logs):
                return


@pytest.fixture
def no_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that counts a key's messages and allows no more of them as time passes."""
    monkeypatch.setattr("controller.gateway.feed_socket.SUBSCRIPTIONS_PER_S", 0.0)


@pytest.fixture
async def hostile(no_refill: None, state_dir: Path, endpoints: Endpoints) -> AsyncIterator[Hostile]:
    me, context = identity(state_dir, "observer"), zmq.asyncio.Context()
    socket = context.socket(zmq.XSUB)
    socket.linger, socket.sndhwm = 0, 100
    socket.curve_serverkey = endpoints.server_key.encode()
    socket.curve_publickey, socket.curve_secretkey = me.public.encode(), me.secret.encode()
    socket.connect(endpoints.feed)
    yield Hostile(socket)
    context.destroy()


FLOODS: dict[str, Callable[[int], list[bytes]]] = {
    "ever new topics": lambda number: [b"\x01" + f"{number:0400}".encode()],
    "one topic again and again": lambda number: [b"\x01state/T01"],
    "no subscription at all": lambda number: [b"x" * 400],
}


@pytest.mark.slow
@pytest.mark.parametrize("flood", FLOODS)
async def test_who_floods_the_feed_is_put_out_and_the_others_miss_nothing(
    no_refill: None,
    machine: ScriptedMachine,
    connect: Connect,
    make_state: MakeState,
    hostile: Hostile,
    flood: str,
) -> None:
    client = connect("referee")
    await client.next_message()
    with structlog.testing.capture_logs() as logs:
        await hostile.until_barred(logs, FLOODS[flood])
        machine.publish(later := make_state())
        while later.time not in (await client.next_message()).body.decode():
            pass
        assert (await client.ask("hold")).ok
        with pytest.raises(NoAnswer, match="key refused"):
            await connect("observer").ask("snapshot")
    barred = [log for log in logs if log["event"].startswith("key barred")]
    assert [log["name"] for log in barred] == ["observer"]


async def test_topics_behind_another_frame_are_seen(
    no_refill: None, connect: Connect, hostile: Hostile
) -> None:
    await connect("referee").next_message()
    hidden = [b"\x01" + f"{number:0400}".encode() for number in range(60)]
    with structlog.testing.capture_logs() as logs:
        for frame in hidden:
            await hostile.socket.send_multipart([b"\x02", frame])
        while not any(log["event"].startswith("key barred") for log in logs):
            await connect("referee").next_message()


async def test_who_has_the_key_of_a_flood_and_another_address_goes_on(
    no_refill: None,
    state_dir: Path,
    machine: ScriptedMachine,
    endpoints: Endpoints,
    connect: Connect,
    hostile: Hostile,
) -> None:
    me, context = identity(state_dir, "observer"), zmq.asyncio.Context()
    await connect("referee").next_message()
    with structlog.testing.capture_logs() as logs:
        await hostile.until_barred(logs, FLOODS["ever new topics"])
    elsewhere = context.socket(zmq.SUB)
    elsewhere.linger = 0
    elsewhere.curve_serverkey = endpoints.server_key.encode()
    elsewhere.curve_publickey, elsewhere.curve_secretkey = me.public.encode(), me.secret.encode()
    elsewhere.subscribe(b"")
    elsewhere.connect(endpoints.feed.replace("tcp://", "tcp://127.0.0.2:0;"))
    topic, _ = await elsewhere.recv_multipart()
    assert topic.startswith(b"state/")
    context.destroy()


@pytest.mark.virtual
async def test_a_barred_peer_is_admitted_again_after_its_time_and_its_key_elsewhere_at_once(
    state_dir: Path,
) -> None:
    allowed = AdmittedKeys(state_dir, lambda: "2027-03-01T12:00:00.000Z")
    peer = ConnectedPeer(identity(state_dir, "observer").public, A.address)
    allowed.ban(peer)

    await asyncio.sleep(BAN_TIME_S - 0.001)
    assert allowed.refusal_of_peer(peer) == NotAdmitted("TOO_MANY", "observer")
    assert allowed.no_longer_admitted([peer]) == ["observer"]
    assert allowed.refusal_of_peer(ConnectedPeer(peer.key, B.address)) is None
    assert allowed.no_longer_admitted([ConnectedPeer(peer.key, B.address)]) == []
    await asyncio.sleep(0.001)
    assert allowed.refusal_of_peer(peer) is None
    assert allowed.no_longer_admitted([peer]) == []

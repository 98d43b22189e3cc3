"""Events: numbered, resent until seen, forgotten when kept."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from drivers.firmware import protocol
from drivers.firmware.event_memory import NEVER_MS, EventMemory
from tests.firmware.bench import SESSION, DealerLine, events_of


def flap(dealer: DealerLine, times: int) -> None:
    """Make that many events: a pocket's sensor goes on and off."""
    for _ in range(times):
        dealer.pins.move(dealer.now, "pocket_2", 1 - dealer.pins.levels["pocket_2"])


def test_events_are_numbered_from_one_and_say_where_they_belong(dealer: DealerLine) -> None:
    dealer.begin()
    flap(dealer, 2)
    dealer.step()
    occupied, empty = dealer.events
    assert (occupied.number, occupied.attempt, occupied.index, occupied.place) == (1, 7, 1, 2)
    assert (empty.number, empty.attempt, empty.index, empty.place) == (2, 7, 0, 2)


def test_at_most_eight_unseen_events_are_on_the_way(dealer: DealerLine) -> None:
    dealer.hello()
    flap(dealer, 20)
    assert events_of(dealer.step()) == [1, 2, 3, 4, 5, 6, 7, 8]
    dealer.seen = 3
    assert events_of(dealer.step(dealer.frame(protocol.BEAT))) == [9, 10, 11]
    dealer.seen = 11
    assert events_of(dealer.step(dealer.frame(protocol.BEAT))) == [*range(12, 20)]


def test_unseen_events_come_again_after_50_ms_and_twice_as_long_up_to_400(
    dealer: DealerLine,
) -> None:
    dealer.hello()
    flap(dealer, 3)
    start = dealer.now
    dealer.step()
    again = []
    for at in range(start + 1, start + 2000):
        dealer.now = at
        if events_of(dealer.step(dealer.frame(protocol.BEAT))):
            again.append(at - start)
    assert again[:6] == [50, 150, 350, 750, 1150, 1550]


def test_the_wait_is_50_ms_again_when_seen_moves_on(dealer: DealerLine) -> None:
    dealer.hello()
    flap(dealer, 3)
    dealer.step()
    for after in (50, 100):
        assert events_of(dealer.step(dealer.frame(protocol.BEAT), after)) == [1, 2, 3]
    dealer.seen = 1
    assert events_of(dealer.step(dealer.frame(protocol.BEAT))) == []
    assert events_of(dealer.step(after_ms=49)) == []
    assert events_of(dealer.step(after_ms=1)) == [2, 3]


def test_seen_events_are_not_sent_again(dealer: DealerLine) -> None:
    dealer.hello()
    flap(dealer, 3)
    dealer.step()
    dealer.beat()
    dealer.wait(2000)
    assert sum(frame.kind == protocol.EVENT for frame in dealer.frames) == 3


def test_a_new_session_is_told_again_whatever_is_not_kept(dealer: DealerLine) -> None:
    dealer.hello()
    flap(dealer, 6)
    dealer.step()
    dealer.kept = 2
    dealer.beat()
    welcome = dealer.hello(SESSION + 1)
    assert struct.unpack(protocol.BODIES[protocol.WELCOME], welcome.body)[-2] == 2
    assert events_of(dealer.frames[-5:]) == [3, 4, 5, 6]


def test_in_a_new_session_a_host_may_say_at_once_what_it_took_before(dealer: DealerLine) -> None:
    dealer.hello()
    flap(dealer, 12)
    dealer.step()
    dealer.seen = 8
    dealer.step(dealer.frame(protocol.BEAT))
    dealer.hello(SESSION + 1)
    dealer.seen = 10
    assert events_of(dealer.step(dealer.frame(protocol.BEAT))) == [11, 12]


def test_acknowledgements_never_go_back_nor_beyond_what_was_said(dealer: DealerLine) -> None:
    dealer.hello()
    flap(dealer, 4)
    dealer.step()
    memory = dealer.board.memory
    for seen, kept, then in ((3, 1, (3, 1)), (1, 0, (3, 1)), (99, 99, (3, 1)), (3, 4, (4, 4))):
        dealer.seen, dealer.kept = seen, kept
        dealer.step(dealer.frame(protocol.BEAT))
        assert (memory.seen, memory.kept) == then


def test_the_memory_holds_1024_events_and_the_lock_knows_when_one_was_lost(
    dealer: DealerLine,
) -> None:
    dealer.deal()
    assert dealer.locked()
    flap(dealer, 2 * (protocol.EVENT_MEMORY // 2))
    dealer.step()
    assert dealer.board.memory.free_slots() == 0
    assert dealer.board.memory.last == protocol.EVENT_MEMORY
    assert not dealer.locked()


def test_a_full_memory_takes_no_feed(dealer: DealerLine) -> None:
    dealer.begin()
    flap(dealer, 1000)
    dealer.step()
    dealer.pins.levels["pocket_2"] = 0
    assert dealer.feed() == protocol.MEMORY
    dealer.kept = 900
    dealer.beat()
    assert dealer.feed() == protocol.DONE


def test_feeding_stops_before_the_memory_is_full(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    dealer.arrive()
    dealer.route(1, 0)
    flap(dealer, 995)
    dealer.edge("gate_at", 0)
    dealer.leave()
    assert not dealer.pins.runs("feed")
    while dealer.seen < dealer.board.memory.last:
        dealer.beat()
    last = dealer.events[-1]
    assert (last.code, last.place) == (protocol.STOPPED, protocol.MEMORY_FULL)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60), st.integers(0, 500))))
def test_a_host_that_takes_only_the_next_event_gets_each_once_and_in_order(
    turns: list[tuple[int, int, int]],
) -> None:
    memory, now, taken = EventMemory(), 0, 0
    for fresh, chance, after in turns:
        now += after
        for _ in range(fresh):
            memory.add(struct.pack(">I", memory.last + 1))
        sent = [struct.unpack(">I", body)[0] for body in memory.bodies_due(now)]
        assert len(sent) <= protocol.EVENT_WINDOW
        assert sent == sorted(sent)
        for number in sent[: chance % 10]:  # the line loses the rest
            taken += number == taken + 1
        memory.acknowledge(taken, taken - taken % (1 + chance), now)
        assert memory.free_slots() == protocol.EVENT_MEMORY - (memory.last - memory.kept)
    while memory.seen < memory.last:
        now = max(now, memory.deadline() if memory.deadline() < NEVER_MS else now)
        for body in memory.bodies_due(now):
            taken += struct.unpack(">I", body)[0] == taken + 1
        memory.acknowledge(taken, taken, now)
    assert taken == memory.last

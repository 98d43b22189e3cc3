"""The reliable link, against an honest board over a line that is good or dead."""

import asyncio
import struct
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest

from drivers import board_identity
from drivers.board_events import BoardEvent, BoardEventCode, FeedSource, Outlet
from drivers.errors import (
    BoardRefused,
    BoardReset,
    LineLost,
    SessionRenewed,
    WrongBoard,
    WrongKind,
    WrongProtocol,
)
from drivers.firmware import framing
from drivers.firmware import protocol as wire
from drivers.link.frames import (
    PROTOCOL_HEX,
    BeginCommand,
    BoardResult,
    FeedCommand,
    GetStatusCommand,
    RouteCommand,
    ShuffleCommand,
)
from drivers.link.link import Link
from drivers.link.link_state import CommandQueue
from sim.virtual_loop import VirtualLoop

if TYPE_CHECKING:
    from tests.link.bad_line import Rig

    MakeRig = Callable[..., Rig]

pytestmark = pytest.mark.virtual


def frames_to_board(rig: "Rig", kind: int | None = None) -> list[tuple[int, tuple[int, ...]]]:
    """Return (ms, header) of every frame the host wrote, or of one kind."""
    frames = []
    for at_ms, data in rig.line.to_board.writes:
        for payload in framing.Decoder().feed(data):
            header = struct.unpack_from(wire.HOST_HEADER, payload)
            if kind in (None, header[0]):
                frames.append((at_ms, header))
    return frames


def times(rig: "Rig", kind: int) -> list[int]:
    return [at_ms for at_ms, _ in frames_to_board(rig, kind)]


def own_timers() -> list[asyncio.TimerHandle]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop.timers


async def sleep_ms(ms: float) -> None:
    await asyncio.sleep(ms / 1000)


# Opening.


async def test_open_returns_who_answered(make_rig: "MakeRig") -> None:
    rig = make_rig()
    welcome = await rig.host.open()
    assert (welcome.kind, welcome.is_simulated, welcome.boot) == ("dealer", True, rig.board.boot)
    assert rig.link.is_up
    assert rig.link.counters.sessions == 1


async def test_hello_is_repeated_five_times_and_then_given_up(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.line.to_board.cut = True
    with pytest.raises(LineLost, match="no answer to HELLO"):
        await rig.host.open()
    assert times(rig, wire.HELLO) == [0, 50, 150, 350, 750, 1150]
    assert round(asyncio.get_running_loop().time() * 1000) == 1550
    assert not rig.line.is_open
    assert rig.host.downs == []
    assert own_timers() == []


async def test_every_hello_says_the_same_session_and_nothing_more(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.line.to_board.cut = True
    with pytest.raises(LineLost):
        await rig.host.open()
    headers = {header for _, header in frames_to_board(rig)}
    [(kind, session, number, seen, kept)] = headers
    assert (kind, number, seen, kept) == (wire.HELLO, 0, 0, 0)
    assert session != 0


async def test_a_session_id_of_zero_or_of_the_session_before_is_drawn_again(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    ids = iter([0, 5, 5, 0, 6])
    rig.host.session_ids = lambda: next(ids)
    rig.host.restart()
    await rig.host.open()
    assert rig.board.session == 5
    rig.link.close()
    await rig.host.open()
    assert rig.board.session == 6


async def test_a_board_of_another_protocol_is_refused_with_both_values(make_rig: "MakeRig") -> None:
    rig = make_rig()
    other = b"protocol"
    rig.board.welcome = partial(rig.board.welcome, other)  # type: ignore[method-assign]
    with pytest.raises(WrongProtocol) as caught:
        await rig.host.open()
    assert (caught.value.expected, caught.value.found) == (PROTOCOL_HEX, other.hex())
    assert not rig.line.is_open


async def test_a_board_of_an_unknown_kind_is_refused_as_one_and_not_as_silent(
    make_rig: "MakeRig", monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig()
    unknown = b"\x09" + rig.board.welcome()[1:]
    monkeypatch.setattr(rig.board, "welcome", lambda protocol=b"": unknown)
    pinned = board_identity.ExpectedBoard("dealer", "0" * 16, is_simulated=True, firmware="0" * 16)
    check = partial(board_identity.check_identity, expected=pinned)
    link = Link(rig.line, "dealer", session_ids=lambda: 5, check=check)
    with pytest.raises(WrongKind, match="kind is other"):
        await link.open({}, {})
    assert link.counters.malformed == 0


async def test_a_board_that_is_not_the_one_pinned_says_nothing_to_anyone(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    pinned = board_identity.ExpectedBoard("dealer", "1" * 16, is_simulated=True, firmware="0" * 16)
    link = Link(
        rig.line,
        "dealer",
        session_ids=lambda: 5,
        check=partial(board_identity.check_identity, expected=pinned),
        on_event=rig.host.on_event,
    )
    rig.board.emit(wire.LID, place=1)
    with pytest.raises(WrongBoard):
        await link.open({}, {})
    await sleep_ms(1000)
    assert rig.host.events == []
    assert not rig.line.is_open


async def test_no_event_is_handed_on_before_open_has_returned(make_rig: "MakeRig") -> None:
    rig = make_rig(gluing_ms=5)
    for opened_before in (0, 1):
        rig.board.emit(wire.LID, place=1)
        rig.board.emit(wire.LID, place=0)
        await rig.host.open()
        assert len(rig.host.events) == 2 * opened_before
        await sleep_ms(100)
        assert [event.place for event in rig.host.events] == [1, 0] * (1 + opened_before)
        rig.link.close()
        await sleep_ms(100)


async def test_a_cancelled_open_leaves_nothing_behind(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.line.to_board.cut = True
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await rig.host.open()
    assert not rig.line.is_open
    assert own_timers() == []
    rig.line.to_board.cut = False
    await rig.host.open()


async def test_a_line_that_dies_before_open_has_returned_is_told_by_open_alone(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    opening = asyncio.ensure_future(rig.host.open())
    await asyncio.sleep(0)
    deliver = rig.line.to_host.deliver

    def deliver_and_die(data: bytes) -> None:
        deliver(data)
        rig.line.lose("unplugged")

    rig.line.to_host.deliver = deliver_and_die
    with pytest.raises(LineLost, match="unplugged"):
        await opening
    assert rig.link.counters.sessions == 1
    assert rig.host.downs == []


async def test_opening_twice_is_a_mistake_of_the_program(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    with pytest.raises(RuntimeError, match="open already"):
        await rig.host.open()


async def test_what_a_lost_line_left_behind_spoils_no_frame_of_the_next(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    rig.line.to_host.deliver(b"half a fra")
    rig.line.lose("unplugged")
    hellos = len(times(rig, wire.HELLO))
    await rig.host.open()
    assert len(times(rig, wire.HELLO)) == hellos + 1


# Commands.


async def test_commands_are_numbered_and_one_is_outstanding(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    replies = await asyncio.gather(
        *(rig.link.request(ShuffleCommand(1, passes)) for passes in range(1, 5))
    )
    assert [reply.number for reply in replies] == [1, 2, 3, 4]
    assert times(rig, wire.SHUFFLE) == [2, 4, 6, 8]


async def test_a_command_posted_in_on_event_is_on_the_line_before_the_read_callback_ends(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    written: list[list[int]] = []

    def route(event: BoardEvent) -> None:
        rig.link.send(RouteCommand(7, event.index, Outlet.N))
        written.append(times(rig, wire.ROUTE))

    rig.link.on_event = route
    await rig.host.open()
    rig.board.emit(wire.AT_READER, 1)
    await sleep_ms(1)
    assert written == [[3]]
    [(_, (_, _, _, seen, _))] = frames_to_board(rig, wire.ROUTE)
    assert seen == 1  # the same frame acknowledges the event


async def test_a_refusal_is_raised_at_once_and_not_repeated(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.board.result[wire.BEGIN] = wire.NOT_CLEAR
    await rig.host.open()
    with pytest.raises(BoardRefused) as caught:
        await rig.link.request(BeginCommand(7, 108, 27))
    assert caught.value.result is BoardResult.NOT_CLEAR
    assert caught.value.command == BeginCommand(7, 108, 27)
    await sleep_ms(1000)
    assert len(times(rig, wire.BEGIN)) == 1


async def test_a_refusal_of_a_posted_command_is_told(make_rig: "MakeRig") -> None:
    rig = make_rig()
    refusals: list[BoardRefused] = []
    rig.link.on_refused = refusals.append
    await rig.host.open()
    await rig.link.request(BeginCommand(7, 108, 27))
    rig.link.send(RouteCommand(7, 1, Outlet.N))
    rig.link.send(RouteCommand(7, 1, Outlet.S))
    await sleep_ms(10)
    [refused] = refusals
    assert refused.result is BoardResult.ROUTE_DIFFERS
    assert refused.command == RouteCommand(7, 1, Outlet.S)


async def test_a_command_without_acknowledgement_is_sent_again_under_its_number(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    rig.line.to_host.cut = True
    waiting = asyncio.ensure_future(rig.link.request(BeginCommand(7, 108, 27)))
    await sleep_ms(300)
    rig.line.to_host.cut = False
    reply = await waiting
    assert reply.number == 1
    assert [at - 2 for at in times(rig, wire.BEGIN)] == [0, 50, 150, 350]
    assert {header[2] for _, header in frames_to_board(rig, wire.BEGIN)} == {1}
    assert rig.link.counters.resends == 3


async def test_every_command_has_waits_of_its_own(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    for kind, command in (
        (wire.BEGIN, BeginCommand(7, 108, 27)),
        (wire.SHUFFLE, ShuffleCommand(7, 3)),
    ):
        rig.board.answers = False
        doing = asyncio.ensure_future(rig.link.request(command))
        await sleep_ms(300)
        rig.board.answers = True
        await doing
        start, *resends = times(rig, kind)
        assert [at - start for at in resends] == [50, 150, 350]


async def test_a_command_never_acknowledged_ends_with_a_new_session(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.answers = False
    with pytest.raises(SessionRenewed, match="no acknowledgement after 5 resends"):
        await rig.link.request(BeginCommand(7, 108, 27))
    assert [at - 2 for at in times(rig, wire.BEGIN)] == [0, 50, 150, 350, 750, 1150]
    assert times(rig, wire.HELLO) == [0, 1552]
    assert rig.link.is_up
    assert len(rig.host.renewals) == 1
    rig.board.answers = True
    assert (await rig.link.request(BeginCommand(7, 108, 27))).number == 1


async def test_no_command_outlives_its_session(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.answers = False
    doing = [
        asyncio.ensure_future(rig.link.request(ShuffleCommand(1, passes))) for passes in (1, 2)
    ]
    await sleep_ms(1000)
    rig.line.to_board.cut = True
    await sleep_ms(1000)
    assert not rig.link.is_up
    doing.append(asyncio.ensure_future(rig.link.request(ShuffleCommand(1, 3))))
    rig.link.send(RouteCommand(7, 1, Outlet.N))
    await sleep_ms(10)
    rig.line.to_board.cut = False
    rig.board.answers = True
    for ended in await asyncio.gather(*doing, return_exceptions=True):
        assert isinstance(ended, SessionRenewed)
    await sleep_ms(500)
    assert len(times(rig, wire.SHUFFLE)) == 6
    assert times(rig, wire.ROUTE) == []


async def test_a_cancelled_caller_takes_back_what_was_not_sent_and_nothing_else(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    sent = asyncio.ensure_future(rig.link.request(ShuffleCommand(1, 1)))
    unsent = asyncio.ensure_future(rig.link.request(ShuffleCommand(1, 2)))
    await asyncio.sleep(0)
    sent.cancel()
    unsent.cancel()
    reply = await rig.link.request(ShuffleCommand(1, 3))
    assert reply.number == 2
    assert len(times(rig, wire.SHUFFLE)) == 2


async def test_after_command_65535_comes_command_1(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.number = 65534
    rig.link._commands = CommandQueue(last_number=65534)
    assert (await rig.link.request(GetStatusCommand())).number == 65535
    assert (await rig.link.request(GetStatusCommand())).number == 1


async def test_without_a_session_do_fails_and_post_does_nothing(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.link.send(RouteCommand(7, 1, Outlet.N))
    with pytest.raises(LineLost, match="not open"):
        await rig.link.request(GetStatusCommand())


# Events and heartbeats.


async def test_an_idle_host_beats_every_100_ms(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(450)
    assert [at - 2 for at in times(rig, wire.BEAT)] == [0, 100, 200, 300, 400]


async def test_any_frame_puts_the_next_beat_off(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(60)
    await rig.link.request(GetStatusCommand())
    await sleep_ms(140)
    assert [at - 2 for at in times(rig, wire.BEAT)] == [0, 160]


async def test_an_event_is_acknowledged_within_20_ms(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(30)
    rig.board.emit(wire.LID, place=1)
    await sleep_ms(40)
    assert [at - 2 for at in times(rig, wire.BEAT)] == [0, 51]
    assert frames_to_board(rig, wire.BEAT)[-1][1][3:] == (1, 0)
    assert rig.board.seen == 1


async def test_a_repeated_event_is_acknowledged_again(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(5)
    rig.board.emit(wire.LID, place=1)
    rig.line.to_board.cut = True
    await sleep_ms(50)
    rig.line.to_board.cut = False
    await sleep_ms(30)
    assert rig.board.seen == 1
    assert rig.link.counters.duplicates == 1
    assert len(rig.host.events) == 1


async def test_kept_travels_with_the_next_frame_and_not_for_another_boot(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    for place in (1, 0, 1):
        rig.board.emit(wire.LID, place=place)
    await sleep_ms(5)
    rig.link.mark_kept(2, boot=rig.board.boot)
    rig.link.mark_kept(3, boot=rig.board.boot + 1)
    await sleep_ms(200)
    assert rig.board.kept == 2
    rig.link.mark_kept(3)
    await sleep_ms(200)
    assert rig.board.kept == 3


async def test_a_new_host_takes_up_where_the_journal_of_the_old_one_ends(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    for place in (1, 0, 1):
        rig.board.emit(wire.LID, place=place)
    await sleep_ms(5)
    assert len(rig.host.events) == 3
    rig.host.taken[rig.board.boot] = 1  # the last two never reached the disk
    rig.host.restart()
    await rig.host.open()
    await sleep_ms(100)
    assert [event.number for event in rig.host.events] == [1, 2, 3, 2, 3]


async def test_a_link_opened_again_takes_nothing_twice_whatever_the_journal_says(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.emit(wire.LID, place=1)
    await sleep_ms(5)
    rig.link.close()
    await rig.link.open({}, {})
    rig.board.emit(wire.LID, place=0)
    await sleep_ms(100)
    assert [event.number for event in rig.host.events] == [1, 2]


async def test_a_host_that_never_met_this_boot_begins_behind_what_the_board_forgot(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    rig.board.last = rig.board.seen = rig.board.kept = rig.board.sent = 40
    rig.host.taken[rig.board.boot] = 40
    taken: dict[int, int] = {}
    await rig.link.open(taken, {})
    rig.board.emit(wire.LID, place=1)
    await sleep_ms(10)
    assert [event.number for event in rig.host.events] == [41]
    assert rig.link.counters.lost == 0


async def test_events_the_board_forgot_too_early_are_counted_as_lost(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.board.last = rig.board.seen = rig.board.kept = rig.board.sent = 40
    await rig.link.open({rig.board.boot: 33}, {})
    assert rig.link.counters.lost == 7


async def test_an_event_of_another_attempt_is_handed_on_under_its_own(make_rig: "MakeRig") -> None:
    rig = make_rig()
    rig.board.emit(wire.LANDED, index=108, place=wire.EAST, attempt=6)
    await rig.host.open()
    await rig.link.request(BeginCommand(7, 108, 27))
    rig.board.emit(wire.LID, place=1)
    await sleep_ms(100)
    assert [(event.attempt, event.code) for event in rig.host.events] == [
        (6, BoardEventCode.LANDED),
        (7, BoardEventCode.LID),
    ]


# Trouble.


async def test_half_a_second_of_silence_renews_the_session(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(98)
    rig.board.mute = True
    await sleep_ms(590)
    rig.board.mute = False
    await sleep_ms(300)
    [welcome] = rig.host.renewals
    assert welcome.boot == rig.board.boot
    assert rig.host.downs == []
    assert rig.link.is_up
    last_heard_ms = 2
    assert times(rig, wire.HELLO)[1] == last_heard_ms + 500


async def test_no_event_of_a_new_session_comes_before_its_welcome(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    told: list[str] = []
    rig.link.on_event = lambda event: told.append("event")
    rig.link.on_renewed = lambda welcome: told.append("renewed")
    rig.board.mute = True
    await sleep_ms(505)  # HELLO has arrived, and WELCOME was not said
    rig.board.mute = False
    rig.board.emit(wire.LID, place=1)
    await sleep_ms(200)
    assert told == ["renewed", "event"]


async def test_a_silence_that_lasts_ends_the_link_once_and_leaves_no_timer(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.close()
    waiting = asyncio.ensure_future(rig.link.request(GetStatusCommand()))
    with pytest.raises(LineLost, match="no answer to HELLO") as caught:
        await waiting
    assert not isinstance(caught.value, SessionRenewed)
    [error] = rig.host.downs
    assert type(error) is LineLost
    assert len(times(rig, wire.HELLO)) == 1 + 6
    assert own_timers() == []
    assert not rig.line.is_open


async def test_trouble_again_soon_after_a_new_session_is_the_end(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.answers = False
    with pytest.raises(SessionRenewed):
        await rig.link.request(GetStatusCommand())
    with pytest.raises(LineLost, match="again after a new session"):
        await rig.link.request(GetStatusCommand())
    assert rig.link.counters.sessions == 2
    assert len(rig.host.downs) == 1


async def test_trouble_long_after_the_last_is_an_incident_of_its_own(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    for _ in range(4):
        rig.board.answers = False
        with pytest.raises(SessionRenewed):
            await rig.link.request(GetStatusCommand())
        rig.board.answers = True
        await sleep_ms(2001)
    assert rig.host.downs == []
    assert rig.link.counters.sessions == 5


async def test_a_link_opened_again_starts_with_a_clean_slate(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.line.to_host.cut = True
    await sleep_ms(600)
    rig.link.stop()
    await sleep_ms(2000)
    assert len(rig.host.downs) == 1
    rig.line.to_host.cut = False
    await rig.host.open()
    rig.board.answers = False
    with pytest.raises(SessionRenewed):
        await rig.link.request(GetStatusCommand())
    assert len(rig.host.downs) == 1
    assert rig.board.stops == 0


async def test_a_board_in_another_session_is_asked_for_a_new_one(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.session += 1  # somebody else said HELLO
    with pytest.raises(SessionRenewed, match="another session"):
        await rig.link.request(GetStatusCommand())
    assert rig.link.is_up


async def test_a_late_answer_to_a_session_before_changes_nothing(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    before = rig.board.session
    rig.link.close()
    await rig.host.open()
    refusal = struct.pack(wire.BOARD_HEADER + "II", wire.NO_SESSION, before, rig.board.boot, 0)
    rig.line.to_host.write(framing.encode(refusal))
    await sleep_ms(10)
    assert rig.link.counters.foreign == 1
    assert rig.host.renewals == []


@pytest.mark.parametrize("notices", ["its silence", "a refused frame"])
async def test_a_board_that_restarts_unasked_ends_the_link(
    make_rig: "MakeRig", notices: str
) -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(50)
    before = rig.board.boot
    rig.board.reset()
    rig.board.deaf = notices == "its silence"
    await sleep_ms(600)
    rig.board.deaf = False
    await sleep_ms(100)
    [error] = rig.host.downs
    assert isinstance(error, BoardReset)
    assert (error.expected, error.found) == (before, rig.board.boot)
    assert rig.host.renewals == []
    if notices == "a refused frame":
        assert len(times(rig, wire.HELLO)) == 1
    assert not rig.line.is_open
    welcome = await rig.host.open()
    assert welcome.boot == rig.board.boot


@pytest.mark.parametrize("says", ["ALIVE", "EVENT", "WELCOME"])
async def test_a_board_that_restarts_into_the_same_session_is_noticed_too(
    make_rig: "MakeRig", says: str
) -> None:
    rig = make_rig()
    await rig.host.open()
    session = rig.board.session
    rig.board.reset()
    rig.board.session = session  # the line repeated our HELLO to it
    if says == "ALIVE":
        rig.board._keep_alive()
    elif says == "EVENT":
        rig.board.emit(wire.LID, place=1)
    else:
        rig.board._send(wire.WELCOME, rig.board.welcome())
    await sleep_ms(2)
    [error] = rig.host.downs
    assert isinstance(error, BoardReset)
    assert rig.host.events == []


async def test_a_boot_id_that_repeats_is_noticed_by_its_missing_events(make_rig: "MakeRig") -> None:
    rig = make_rig()
    with pytest.raises(BoardReset, match="began again"):
        await rig.link.open({rig.board.boot: 12}, {})


async def test_a_lost_port_ends_the_link_at_once(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    waiting = asyncio.ensure_future(rig.link.request(GetStatusCommand()))
    await asyncio.sleep(0)
    rig.line.lose("unplugged")
    with pytest.raises(LineLost, match="unplugged"):
        await waiting
    assert [error.why for error in rig.host.downs] == ["unplugged"]
    rig.board.close()
    await sleep_ms(10)
    assert own_timers() == []


async def test_close_ends_everything_and_calls_nobody(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.answers = False
    waiting = asyncio.ensure_future(rig.link.request(GetStatusCommand()))
    await sleep_ms(10)
    rig.link.close()
    with pytest.raises(LineLost, match="closed"):
        await waiting
    rig.board.close()
    await sleep_ms(10)
    assert own_timers() == []
    assert len(asyncio.all_tasks()) == 1
    assert rig.host.downs == []
    rig.link.close()


async def test_an_owner_may_close_the_link_inside_on_event(make_rig: "MakeRig") -> None:
    rig = make_rig(gluing_ms=5)
    events: list[BoardEvent] = []

    def close_at_once(event: BoardEvent) -> None:
        events.append(event)
        rig.link.close()

    rig.link.on_event = close_at_once
    await rig.host.open()
    rig.board.emit(wire.LID, place=1)
    rig.board.emit(wire.LID, place=0)
    rig.board._send(wire.WELCOME, rig.board.welcome())
    await sleep_ms(300)
    assert [event.number for event in events] == [1]
    assert not rig.link.is_up


# STOP.


async def test_stop_is_three_copies_at_once_and_leaves_an_idle_session_alone(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    await sleep_ms(5)
    rig.link.stop()
    await sleep_ms(5)
    assert times(rig, wire.STOP) == [7, 7, 7]
    assert rig.board.stops == 3
    assert rig.link.is_up
    assert rig.link.counters.sessions == 1


async def test_a_command_that_a_stop_overtook_is_not_repeated_behind_it(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    await rig.link.request(BeginCommand(7, 108, 27))
    rig.line.to_board.cut = True
    feeding = asyncio.ensure_future(rig.link.request(FeedCommand(7, FeedSource.HOPPER, 108)))
    await asyncio.sleep(0)
    rig.line.to_board.cut = False
    rig.link.stop()
    with pytest.raises(SessionRenewed, match="STOP"):
        await feeding
    await sleep_ms(1000)
    assert rig.board.moved == []
    assert rig.board.stops == 6  # once more in the new session
    assert rig.host.downs == []


async def test_a_stop_while_the_link_opens_is_sent_once_the_session_is_open(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    opening = asyncio.ensure_future(rig.host.open())
    await asyncio.sleep(0)
    rig.link.stop()
    assert rig.board.stops == 0
    await opening
    await sleep_ms(5)
    assert rig.board.stops == 3


async def test_a_stop_while_the_session_is_renewed_is_said_in_the_new_one(
    make_rig: "MakeRig",
) -> None:
    rig = make_rig()
    await rig.host.open()
    rig.board.mute = True
    await sleep_ms(520)
    rig.link.stop()
    rig.board.mute = False
    await sleep_ms(200)
    assert rig.board.stops == 3


async def test_stop_is_no_incident(make_rig: "MakeRig") -> None:
    rig = make_rig()
    await rig.host.open()
    for _ in range(3):
        doing = asyncio.ensure_future(rig.link.request(GetStatusCommand()))
        await asyncio.sleep(0)
        rig.link.stop()
        with pytest.raises(SessionRenewed):
            await doing
    assert rig.link.is_up

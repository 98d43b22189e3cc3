"""Tables of the fake console at which matches are really played: `python -m tests.console.played`.

No machine and no wire, but the match itself: what is ordered becomes events of the reducer, and
those are entries and states as a table publishes them. So the ruling desk can be looked at, and
tried, in a second.
"""

import asyncio
import hashlib
import itertools
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from controller.commands.registry import COMMANDS, BadArgs, parse_args
from controller.console.console import RefereeConsole
from controller.console.server import serve
from controller.console.store.archive import StoredEvent
from controller.machine.commands.command_events import EVENT_MAKERS, events_of_command
from controller.machine.commands.command_offers import (
    SIGNED_COMMANDS,
    SampleContext,
    make_samples,
    verbal_sample,
)
from controller.machine.commands.command_request import (
    CommandRefused,
    CommandSigner,
    failure,
    failure_of,
)
from controller.machine.commands.decision_preview import lost_time, preview_decision
from controller.machine.commands.match_commands import meeting_data
from controller.machine.commands.ruling_commands import legal_rulings
from controller.machine.public.public_match import public_match
from controller.machine.public.public_state import public_calls
from controller.machine.public.score_sheet import sheet_data
from controller.machine.state.table_match import TableMatch, apply_event, dry_run
from controller.match import match_events
from controller.match.match_effects import EventRefused
from controller.match.match_events import MatchEvent, encode_match_event
from controller.match.match_state import AnyMatch
from controller.match.phase import BEFORE_RELEASE
from controller.match.reducer import new_match
from controller.match.refusals import RefusedError
from controller.messages import (
    ClientCommand,
    CommandReply,
    Failure,
    PublicState,
    RefereeCall,
    Role,
    Seat,
)
from controller.rules.penalties.penalty_record import Incident, PenaltyEntry
from tests.console import fake
from tests.console.states import state
from tests.match.people import charge_of
from tests.match.table import BIG_TWO, INTL, B, N, Table, timed

Told = dict[str, Any]


class Played:
    """One table with its match: `do` gives it a command, `state` is what it says."""

    def __init__(self, tables: "PlayedTables", name: str, script: Table, record: Any = ()) -> None:
        self._tables, self.name = tables, name
        self._numbers = itertools.count(1)
        self._began = tables.clock.ms - script.at_ms
        self.profile = script.profile
        first = new_match(self.profile, script.state.meeting, record)
        self.play = TableMatch(match=first)
        self.kept: list[StoredEvent] = []
        self._time_told = 0
        self.calls: tuple[RefereeCall, ...] = ()
        self._write("meeting", dict(meeting_data(self.profile, first.meeting, record)))
        for event in script.happened:
            self._happens(event)

    @property
    def at_ms(self) -> int:
        """The table's clock."""
        return self._tables.clock.ms - self._began

    def _stamp(self, ago_s: float = 0) -> str:
        return fake.stamp(ago_s, self._tables.clock.ms)

    def state(self) -> PublicState:
        """What the table publishes."""
        play, match = self.play, self.play.match
        assert match is not None
        shown = public_match(
            play,
            profile=self.profile.name,
            now_ms=self.at_ms,
            deal=match.deal,
            leader=None,
            turned_up=None,
        )
        held = match.phase in BEFORE_RELEASE
        calls = public_calls(self.calls, play.match_calls)
        bare = state(
            table=self.name,
            boot="played01",
            time=self._stamp(),
            machine={"phase": "committed" if held else "released", "deal": match.deal},
            seq=next(self._numbers),
        )
        head = self.kept[-1].event.head
        if self._time_told:  # a table journals what time does, and its pages ask anew
            head = hashlib.sha256(f"{head} {self._time_told}".encode()).hexdigest()
        return msgspec.structs.replace(bare, match=shown, calls=calls, head=head)

    def ticked(self) -> PublicState:
        """Let time do what it does; return what the table publishes then."""
        before = self.match
        self._happens(match_events.TimePassed(at_ms=self.at_ms), quiet=True)
        self._time_told += msgspec.structs.replace(self.match, now_ms=before.now_ms) != before
        return self.state()

    def happens(self, event: MatchEvent) -> None:
        """Let something happen at the table, and publish."""
        self._happens(event)
        self._tables.say(self.name, self.state())

    @property
    def match(self) -> AnyMatch:
        """The match as it is played now."""
        assert self.play.match is not None
        return self.play.match

    def wait(self, ms: int) -> None:
        """Turn the hall's clock by so much."""
        self._tables.clock.turn(ms / 1000)

    def calls_referee(self, seat: Seat) -> None:
        """Press a red button."""
        self.calls = (*self.calls, RefereeCall(seat=seat, reason="button", since=self._stamp(30)))

    def do(self, command: ClientCommand, role: Role) -> CommandReply:
        """Give a command."""
        try:
            args = parse_args(command.cmd, command.args)
            result = self._asked(command.cmd, args)
            if result is None:
                result = self._ordered(command, args, role)
        except BadArgs as bad:
            refused = failure("BAD_COMMAND", found=bad.found, expected=bad.expected)
            return CommandReply(id=command.id, ok=False, error=refused)
        except CommandRefused as why:
            return CommandReply(id=command.id, ok=False, error=why.failure)
        except RefusedError as error:
            return CommandReply(id=command.id, ok=False, error=failure_of(error.refusal))
        return CommandReply(id=command.id, ok=True, result=result)

    def _asked(self, cmd: str, args: Any) -> Told | None:
        match = self.play.match
        assert match is not None
        reading: dict[str, Callable[[], Told]] = {
            "rulings": lambda: {
                "proposals": msgspec.to_builtins(list(legal_rulings(match, args, self.at_ms)))
            },
            "foresee": lambda: preview_decision(self.play, args, self.at_ms),
            "lost_time": lambda: lost_time(match, self.at_ms),
            "sheet": lambda: sheet_data(match, table=self.name, head="00" * 32),
            "offers": lambda: {"offers": self._offers(args.role)},
        }
        return reading[cmd]() if cmd in reading else None

    def _ordered(self, command: ClientCommand, args: Any, role: Role) -> Told:
        match = self.play.match
        assert match is not None
        if command.cmd not in EVENT_MAKERS:
            raise CommandRefused(failure("WRONG_PHASE", found="played", expected="a machine"))
        who = CommandSigner(role.value, role, command.person)
        wanted = events_of_command(command.cmd, args, who, match, self.at_ms)
        why = self._refused(wanted)
        if why is not None:
            raise CommandRefused(why)
        for event in wanted:
            self._happens(event)
        self._write(
            "command", {"id": command.id, "cmd": command.cmd, "key": "k", "who": who.signed_text}
        )
        self._tables.say(self.name, self.state())
        ruled = [event for event in wanted if isinstance(event, match_events.RulingProposed)]
        assert self.play.match is not None
        told: Told = {"phase": self.play.match.phase.value}
        for event in ruled:
            told |= {"ruling": event.id, "penalty": event.proposal.penalty}
        return told

    def _refused(self, wanted: tuple[MatchEvent, ...]) -> Failure | None:
        play = self.play
        for event in wanted:
            _, effects = dry_run(play, event)
            for effect in effects:
                if isinstance(effect, EventRefused):
                    return failure_of(effect.refusal)
            play = apply_event(play, event)
        return None

    def _offers(self, role: Role) -> list[Told]:
        match = self.play.match
        known = SampleContext(
            match=match, sets=("S1", "S2"), cards=108, cut=40, raised_faults=(), match_calls=()
        )
        found = []
        for cmd in SIGNED_COMMANDS:
            if role not in COMMANDS[cmd].roles or cmd not in EVENT_MAKERS:
                continue
            seats: list[str] = []
            refused: Failure | None = None
            taken, named = False, False
            for sample in make_samples(cmd, known):
                why = self._tried(cmd, sample.args, role)
                word = verbal_sample(sample)
                if why is not None and why.code == "NEEDS_CHIEF" and word is not None:
                    why = self._tried(cmd, word.args, role)
                named = named or sample.seat is not None
                taken = taken or why is None
                if why is None and sample.seat is not None:
                    seats.append(sample.seat)
                refused = refused or why
            said = None if taken else msgspec.to_builtins(refused)
            found.append({"cmd": cmd, "seats": seats if named else None, "refused": said})
        return found

    def _tried(self, cmd: str, args: Any, role: Role) -> Failure | None:
        assert self.play.match is not None
        try:
            wanted = events_of_command(
                cmd, args, CommandSigner(role.value, role), self.play.match, self.at_ms
            )
        except RefusedError as error:
            return failure_of(error.refusal)
        why = self._refused(wanted)
        return None if why is not None and why.code == "NO_FINISH_ORDER" else why

    def _happens(self, event: MatchEvent, *, quiet: bool = False) -> None:
        self.play = apply_event(self.play, event, self._stamp())
        if not quiet:
            self._write("match", encode_match_event(event))

    def _write(self, kind: str, data: Told) -> None:
        event = fake.an_event(self.name, next(self._numbers) + 10, kind, data)
        self.kept.append(StoredEvent(event, msgspec.json.encode(event)))
        self._tables.heard(event)


class PlayedPeople(Table):
    """The people at a table of the hall as it is now: what they do happens there.

    A page that orders something moves the table on: ask for these people again after it.
    """

    def __init__(self, at: Played) -> None:
        super().__init__(at.profile)
        self._at = at
        self.state, self.at_ms = at.match, at.at_ms

    def happens(
        self, kind: type[match_events.MatchEventBase], *, wait_ms: int = 100, **said: Any
    ) -> Self:
        """One event, a tenth of a second later; its refusal is in `refused`."""
        self._at.wait(wait_ms)
        self.at_ms = self._at.at_ms
        super().happens(kind, wait_ms=0, **said)
        self._at.happens(self.happened[-1])
        self.state = self._at.match
        return self


class PlayedTables(fake.Scripted):
    """The twelve of the fake, some of them with a match that is played.

    `matches`: which, with what their pairs bring; else one of each kind.
    """

    def __init__(self, matches: Mapping[str, tuple[Table, Any]] | None = None) -> None:
        super().__init__()
        self.played: dict[str, Played] = {}
        self.archive: Any = None
        for name, (script, record) in (scripts() if matches is None else matches).items():
            self.played[name] = Played(self, name, script, record)
            self.say(name, self.played[name].state())
        if matches is None:
            self.played["T01"].calls_referee("N")

    def people(self, table: str = "T01") -> PlayedPeople:
        """Return who sits at a table whose match is played."""
        return PlayedPeople(self.played[table])

    def later(self, table: str, said: PublicState, seconds: float, at: str) -> PublicState:
        """Return the state of a table so much later; a match that is played ticks."""
        if table in self.played:
            return self.played[table].ticked()
        return super().later(table, said, seconds, at)

    def heard(self, event: Any) -> None:
        """Keep an entry, and tell who listens."""
        if self.archive is not None:
            self.archive.keep([StoredEvent(event, msgspec.json.encode(event))])
        for told in self._events[:]:
            told(event)


class PlayedLine(fake.ScriptedLine):
    """What answers: the match itself, where one is played."""

    def __init__(self, tables: PlayedTables, table: str, role: Role) -> None:
        super().__init__(tables, table)
        self._played, self._role = tables.played.get(table), role

    async def send(self, command: ClientCommand) -> CommandReply:
        """Answer as a table would."""
        if self._played is None:
            return await super().send(command)
        return self._played.do(command, self._role)


def scripts() -> dict[str, tuple[Table, Any]]:
    """Return the matches, and what their pairs bring."""
    rich = Table().started().played("NS", "NWS", "ENW").in_play()
    rich.ruled("NS", "warning").ruled("EW", "violation").charged("E", "foul", name="R3")
    claimed = Table().started().played("NS").laid().does(match_events.CountClaimed, seat="W")
    wild = Table(N).started().played("NS", "EW").in_play()
    clocked = Table(timed()).started().played("NS").in_play().does(match_events.LeadMade)
    clocked.does(match_events.TableSuspended, reason="long ruling").tick(minutes=2).does(
        match_events.TableResumed
    )
    clocked.does(match_events.PlayClockStarted, seat="S").tick(ms=22_000)
    over = Table(timed()).started().played("NS", "NWE").at_minute(61)
    big = Table(BIG_TWO).started()
    bcta = Table(B).started().played("NWS", "EW").in_play()
    return {
        "T01": (rich, _brought(rich)),
        "T02": (claimed, ()),
        "T03": (wild, ()),
        "T04": (big, ()),
        "T05": (clocked, ()),
        "T06": (over, ()),
        "T07": (bcta, ()),
        "T08": (Table(INTL).seated(), ()),
    }


def _brought(table: Table) -> tuple[PenaltyEntry, ...]:
    """Return what the pair of East and West did an hour ago."""
    charge = charge_of(table.state, "E", "disturbance")
    said = {name: getattr(charge, name) for name in Incident.__struct_fields__}
    return (
        PenaltyEntry(**said | {"match": "M0", "deal": 4}, penalty="warning", article="A15.3.1"),
    )


def console_of(
    folder: Path, port: int = 0, matches: Mapping[str, tuple[Table, Any]] | None = None
) -> tuple[RefereeConsole, PlayedTables]:
    """Return a console over these tables."""
    tables = PlayedTables(matches)
    console = fake.fake(folder, port, tables, lambda table, role: PlayedLine(tables, table, role))
    for one in tables.played.values():
        console.archive.keep(one.kept)
    tables.archive = console.archive
    return console, tables


def _say_where(url: str) -> None:
    sys.stderr.write(f"{url}/login\n")


async def _serve(port: int) -> None:
    with tempfile.TemporaryDirectory(prefix="played-") as folder:
        console, tables = console_of(Path(folder), port)
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        playing = asyncio.create_task(tables.play())
        await console.start()
        try:
            await serve(console, stop, _say_where)
        finally:
            playing.cancel()
            await console.close()
            console.engine.dispose()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8126))

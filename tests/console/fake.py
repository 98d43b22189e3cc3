"""A console over scripted tables, to look at its pages: `python -m tests.console.fake [PORT]`.

The real application, database, people and desk; only what is beyond the wire is played. Everybody
has the PIN 1111: obs, ref, ref2, chief, tech, and t01, the display of table T01.
"""

import asyncio
import itertools
import signal
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from argon2 import PasswordHasher
from nacl.utils import random as entropy

from controller.client.client import NoAnswer
from controller.client.connection import TableConnectionState
from controller.commands.registry import refusal_reply
from controller.console.accounts.account_store import Account, Accounts
from controller.console.console import RefereeConsole
from controller.console.console_config import ConfiguredTable, ConsoleConfig, ConsoleSettings
from controller.console.freshness import ContactTimes
from controller.console.server import serve
from controller.console.store.archive import Archive, StoredEvent
from controller.console.store.database import open_engine
from controller.console.table_snapshots import Result, StoreStatus, TableSnapshot, Unsubscribe
from controller.keys.table_keys import create_client_keys
from controller.messages import ClientCommand, CommandReply, PublicEvent, PublicState, Role
from tests.console.states import alert, call, state

PIN = "1111"
PEOPLE = (
    Account(name="obs", role=Role.OBSERVER),
    Account(name="ref", role=Role.REFEREE),
    Account(name="ref2", role=Role.REFEREE, language="en"),
    Account(name="chief", role=Role.CHIEF),
    Account(name="tech", role=Role.TECHNICIAN),
    Account(name="t01", role=Role.TABLE, table="T01"),
)
BEAT_S = 1.0
"""How often `play` turns the clock by as much."""
SILENT_BEATS = 10
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


NOW_MS = 1_795_428_000_000
"""The wall time of every scripted hall when it begins: 2026-11-23, 10:00 UTC."""


class WallClock:
    """The wall clock of a scripted hall. It is stopped until a test, or `play`, turns it."""

    def __init__(self) -> None:
        self.ms = NOW_MS

    def now_ms(self) -> int:
        """Return the time of day in milliseconds since 1970."""
        return self.ms

    def turn(self, seconds: float) -> None:
        """Let so much time pass."""
        self.ms += round(seconds * 1000)


def stamp(ago_s: float = 0.0, now_ms: int = NOW_MS) -> str:
    """Return a wall stamp as tables give it."""
    at = datetime.fromtimestamp(now_ms / 1000 - ago_s, UTC)
    return at.isoformat(timespec="milliseconds")


def clock(left_s: int, running: bool = True) -> dict[str, Any]:
    """Return a match's clock as of `at_ms` 51260, the example's."""
    deadline = 51_260 + left_s * 1000 if running else None
    return {"left_s": left_s, "running": running, "deadline_ms": deadline}


_WORDS = {
    "button": ("North calls the referee", "北家召请裁判"),
    "count": ("West claims a wrong count", "西家报张数不符"),
    "tribute": ("is the tribute right?", "贡牌是否正确？"),
}


def _call(reason: str, ago_s: float, seat: str | None = None) -> dict[str, Any]:
    en, zh = _WORDS.get(reason, (reason, reason))
    return call(reason, stamp(ago_s), seat=seat, words_en=en, words_zh=zh)


def _alert(name: str, ago_s: float) -> dict[str, Any]:
    row = refusal_reply("x", name).error
    assert row is not None
    words = {
        "cause": row.message,
        "action": row.action,
        "cause_zh": row.message_zh,
        "action_zh": row.action_zh,
    }
    return alert(name, stamp(ago_s)) | words


def _pairs(n: int) -> dict[str, Any]:
    names = ("梅 Plum", "松 Pine", "兰 Orchid", "竹 Bamboo", "菊 Aster", "荷 Lotus")
    one, two = names[n % 6], names[(n + 1) % 6]
    return {
        "NS": {"id": f"P{2 * n - 1}", "name": one, "players": {"N": "Nan Li", "S": "孙小山"}},
        "EW": {"id": f"P{2 * n}", "name": two, "players": {"E": "Eve Xu", "W": "吴 Jun"}},
    }


def _phase(key: str, en: str, zh: str, next_en: str, next_zh: str, **more: Any) -> dict[str, Any]:
    words = {"phase_en": en, "phase_zh": zh, "next_en": next_en, "next_zh": next_zh}
    return {"phase": key, "waiting_for": [], "outs": []} | words | more


def scripts() -> list[dict[str, Any]]:
    """Return what the twelve tables say: what differs from the example, table by table."""
    idle = {"deal": None, "attempt": None, "fed": 0, "phase": "empty"}
    fresh: dict[str, Any] = {
        "levels": {"NS": "2", "EW": "2"},
        "level": "2",
        "tribute": None,
        "rulings": [],
    }
    unstarted = {"started": False, "deal": 0, "attempt": None, "start_ms": None, "began_ms": None}
    return [
        {"match": {"clock": clock(1800)}},
        {"match": {"clock": clock(1500)}, "calls": [_call("button", 95, "N")]},
        {
            "machine": {"phase": "dealing", "fed": 54},
            "match": _phase("dealing", "dealing", "发牌中", "the machine deals", "机器发牌")
            | fresh
            | {"deal": 1, "clock": clock(2300)},
        },
        {
            "machine": {"phase": "fault", "fed": 33},
            "match": _phase("dealing", "dealing", "发牌中", "the jam is cleared", "排除卡牌"),
            "alerts": [_alert("JAM", 40)],
        },
        {
            "machine": {"phase": "held"},
            "match": _phase(
                "held", "hands are ready", "牌已备好，待放行", "anybody takes the hands", "请取牌"
            ),
        },
        {
            "machine": {"phase": "committed", "fed": 0, "cutters": ["S"], "counter": 61},
            "match": _phase(
                "cut", "cut", "请南家切牌", "South cuts", "请南家切牌", waiting_for=["S"]
            )
            | {"cutters": ["S"], "cut_range": [6, 102], "clock": clock(900)},
        },
        {
            "match": _phase(
                "result",
                "result",
                "成绩待确认",
                "both sides confirm: N, W, S",
                "请双方确认：北、西、南",
                order=["N", "W", "S"],
            ),
            "alerts": [_alert("RESULT_UNCONFIRMED", 70)],
        },
        {
            "machine": idle,
            "match": _phase(
                "seating",
                "seating",
                "选手就位",
                "West and East take their seats",
                "请西家、东家就位",
                waiting_for=["W", "E"],
            )
            | fresh
            | unstarted
            | {"seated": ["N", "S"]},
        },
        {
            "match": _phase("suspended", "suspended", "暂停待裁", "the referee counts", "裁判清点")
            | {"suspended": "count", "claimed": "W", "claims": ["W", "W"]},
            "calls": [_call("count", 130, "W")],
        },
        {
            "match": _phase("signing", "signing", "记分表待签", "East-West sign", "请东西方签名")
            | {
                "verdict": {
                    "winner": "NS",
                    "how": "passed_a",
                    "how_en": "North-South passed A",
                    "how_zh": "南北过A",
                },
                "signed": [{"signer": "NS", "person": "Nan Li"}],
                "signers": ["EW", "referee"],
                "levels": {"NS": "A", "EW": "9"},
            }
        },
        {"machine": idle, "match": {"event": None, "match": None, "phase": "idle"} | fresh},
        {"match": {"clock": clock(240), "announced": "last_deal"}},
    ]


class Scripted:
    """Twelve tables, whose clock a test turns; T12's key is refused."""

    def __init__(self, count: int = 12) -> None:
        self._seen: dict[str, TableSnapshot] = {}
        self._changed: list[Callable[[str], None]] = []
        self._events: list[Callable[[PublicEvent], None]] = []
        self._numbers = itertools.count(1000)
        self._cut_off: set[str] = set()
        self.clock = WallClock()
        self.store = StoreStatus()
        for n, script in zip(range(1, count + 1), itertools.cycle(scripts()), strict=False):
            name = f"T{n:02}"
            said = dict(script)
            said["match"] = {"table_no": str(n), "match_no": n, "pairs": _pairs(n)} | said.get(
                "match", {}
            )
            self.say(name, state(**said, table=name, boot=f"boot{n:04}", time=stamp()))
        if "T12" in self._seen:
            self._seen["T12"] = msgspec.structs.replace(
                self._seen["T12"],
                state=None,
                body=None,
                contact_times=ContactTimes(
                    link=TableConnectionState.KEY_REFUSED, link_since_ms=NOW_MS - 60_000
                ),
            )

    @property
    def ids(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._seen)

    def snapshot(self, table: str) -> TableSnapshot:
        """Return one."""
        return self._seen[table]

    def on_change(self, told: Callable[[str], None]) -> Unsubscribe:
        """Tell of changes."""
        self._changed.append(told)
        return lambda: self._changed.remove(told)

    def on_event(self, told: Callable[[PublicEvent], None]) -> Unsubscribe:
        """Tell of events."""
        self._events.append(told)
        return lambda: self._events.remove(told)

    async def wait_until_stored(self) -> None:
        """Keep nothing, so that nothing is on its way."""

    @property
    def store_status(self) -> StoreStatus:
        """Return what a test says of the database."""
        return self.store

    def shift_times(self, by_ms: int) -> None:
        """Say nothing of one's own clock."""

    def add(self, line: ConfiguredTable) -> None:
        """Know one more table, of which nothing is heard."""
        heard = ContactTimes(link_since_ms=self.clock.ms)
        self._seen[line.id] = TableSnapshot(table=line.id, area=line.area, contact_times=heard)

    def remove(self, table: str) -> None:
        """Forget one."""
        del self._seen[table]

    def say(self, table: str, said: PublicState) -> None:
        """Let a table publish a state."""
        now = self.clock.ms
        self._seen[table] = TableSnapshot(
            table=table,
            area="A" if int(table[1:]) % 12 in range(1, 7) else "B",
            state=said,
            body=msgspec.json.encode(said),
            contact_times=ContactTimes(
                link=TableConnectionState.OPEN,
                link_since_ms=now - 9999,
                received_ms=now,
                changed_ms=now,
            ),
        )
        for told in self._changed[:]:
            told(table)

    def cut_off(self, table: str, contact: TableConnectionState, ago_s: float = 0) -> None:
        """Let nothing be heard of a table any more, since so many seconds, and why."""
        self._cut_off.add(table)
        at_ms = self.clock.ms - int(ago_s * 1000)
        heard = ContactTimes(link=contact, link_since_ms=at_ms, received_ms=at_ms, changed_ms=at_ms)
        self._seen[table] = msgspec.structs.replace(self._seen[table], contact_times=heard)
        for told in self._changed[:]:
            told(table)

    def tell(self, table: str, kind: str, **data: Any) -> PublicEvent:
        """Let a table publish an event."""
        event = an_event(table, next(self._numbers), kind, data)
        for told in self._events[:]:
            told(event)
        return event

    async def play(self) -> None:
        """Go on for ever, for somebody who looks: T04 falls silent after a while."""
        for beat in itertools.count():
            await asyncio.sleep(BEAT_S)
            if beat > SILENT_BEATS:
                self._cut_off.add("T04")
            self.turn(BEAT_S)

    def turn(self, seconds: float) -> None:
        """Let so much time pass: every table publishes again, and T03 continues its deal."""
        self.clock.turn(seconds)
        at = stamp(now_ms=self.clock.ms)
        for table in self.ids:
            state = self._seen[table].state
            if state is not None and table not in self._cut_off:
                self.say(table, self.later(table, state, seconds, at))

    def later(self, table: str, said: PublicState, seconds: float, at: str) -> PublicState:
        """Return the state of a table at `at`, so much later."""
        later = _later(said, round(seconds * 1000), at)
        return _dealt_on(later) if table == "T03" else later


def an_event(table: str, n: int, kind: str, data: dict[str, Any], ago_s: float = 0) -> PublicEvent:
    """Return an event of a table."""
    return PublicEvent(
        table=table,
        boot=f"boot{table[1:]:>04}",
        n=n,
        time=stamp(ago_s),
        simulated=True,
        kind=kind,
        deal=2,
        attempt=1,
        data=data,
        prev=f"{n - 1:064x}",
        head=f"{n:064x}",
    )


def _later(said: PublicState, ms: int, at: str) -> PublicState:
    match = said.match
    if match.at_ms is not None:
        at_ms = match.at_ms + ms
        running = match.clock
        if running is not None and running.deadline_ms is not None:
            left_s = max(0, (running.deadline_ms - at_ms) // 1000)
            match = msgspec.structs.replace(
                match, clock=msgspec.structs.replace(running, left_s=left_s)
            )
        match = msgspec.structs.replace(match, at_ms=at_ms)
    return msgspec.structs.replace(said, seq=said.seq + 1, time=at, match=match)


def _dealt_on(said: PublicState) -> PublicState:
    fed = (said.machine.fed + 5) % 109
    machine = msgspec.structs.replace(said.machine, fed=fed, landed=None)
    return msgspec.structs.replace(said, machine=machine)


class ScriptedLine:
    """What answers orders: most are done, `void` is refused, `stop_deal` is not answered."""

    def __init__(self, tables: Scripted, table: str) -> None:
        self._tables, self._table = tables, table

    async def send(self, command: ClientCommand) -> CommandReply:
        """Answer as a table would."""
        if command.cmd == "offers":
            return self._offers(command)
        if command.cmd == "snapshot":
            raise NoAnswer("nobody there")
        if command.cmd == "stop_deal":
            raise NoAnswer("no answer in 8 s")
        if command.cmd == "void":
            return refusal_reply(command.id, "WRONG_PHASE", found="released", expected="held")
        if command.cmd in ("sheet", "rulings", "document", "events"):
            return refusal_reply(command.id, "NO_MATCH")
        asyncio.get_running_loop().call_soon(self._act, command)
        return CommandReply(id=command.id, ok=True, result={"phase": "play"})

    def _offers(self, command: ClientCommand) -> CommandReply:
        from controller.commands.registry import COMMANDS

        role = Role(command.args["role"])
        refused = refusal_reply("x", "WRONG_PHASE", found="released", expected="held").error
        offers = [
            {
                "cmd": cmd,
                "seats": ["N", "W"] if cmd in ("out", "call_clock") else None,
                "refused": refused if cmd in ("void", "release", "cut") else None,
            }
            for cmd, order in COMMANDS.items()
            if order.signed and role in order.roles
        ]
        return CommandReply(id=command.id, ok=True, result={"offers": offers})

    def _act(self, command: ClientCommand) -> None:
        tables, table = self._tables, self._table
        tables.tell(
            table,
            "command",
            id=command.id,
            cmd=command.cmd,
            key=command.key,
            role="referee",
            who="referee",
            person=command.person,
            result={},
        )
        seen = tables.snapshot(table)
        if seen.state is not None and command.cmd in ("resume", "hold"):
            why = command.args.get("reason") if command.cmd == "hold" else None
            match = msgspec.structs.replace(seen.state.match, suspended=why)
            calls = [] if why is None else seen.state.calls
            tables.say(table, msgspec.structs.replace(seen.state, match=match, calls=calls))


async def now(call: Callable[[], Result], /) -> Result:
    """Run what may block at once: nobody else is here."""
    return call()


def _past(table: str) -> list[StoredEvent]:
    told = [
        ("opened", {"table": table, "version": "0.1.0"}),
        ("release", {}),
        ("out", {"seat": "N"}),
    ]
    events = [
        an_event(table, n, kind, data, ago_s=300 - 30 * n)
        for n, (kind, data) in enumerate(told, start=1)
    ]
    return [StoredEvent(event, msgspec.json.encode(event)) for event in events]


def fake(
    folder: Path,
    port: int = 0,
    tables: Scripted | None = None,
    line: Callable[[str, Role], "ScriptedLine"] | None = None,
) -> RefereeConsole:
    """Return a console over scripted tables, with its people; its files go to `folder`.

    `line`: what answers for a table instead.
    """
    tables = tables or Scripted()
    engine = open_engine(f"sqlite:///{folder / 'console.db'}")
    now_ms = tables.clock.now_ms
    people = Accounts(engine, now_ms, entropy, QUICK)
    for person in PEOPLE:
        people.accept_invitation(people.invite(person), PIN)
    keys = folder / "keys"
    for role in Role:
        create_client_keys(folder, role.value, role)
    (folder / "clients").rename(keys)
    archive = Archive(engine)
    archive.keep([kept for table in tables.ids for kept in _past(table)])
    lines = tuple(
        ConfiguredTable(
            id=table,
            area=tables.snapshot(table).area,
            feed="tcp://127.0.0.1:1",
            commands="tcp://127.0.0.1:2",
            server_key="a" * 40,
        )
        for table in tables.ids
    )
    config = ConsoleConfig(
        ConsoleSettings(name="演示 Fake", listen=f"127.0.0.1:{port}", keys=keys), lines
    )
    return RefereeConsole(
        config,
        tables,
        engine,
        now,
        now,
        line or (lambda table, role: ScriptedLine(tables, table)),
        now_ms=now_ms,
        entropy=entropy,
        accounts=people,
        path=folder / "console.toml",
    )


async def _serve(port: int) -> None:
    with tempfile.TemporaryDirectory(prefix="fake-") as folder:
        tables = Scripted()
        console = fake(Path(folder), port, tables)
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


def _say_where(url: str) -> None:
    sys.stderr.write(f"{url}/login  {' '.join(one.name for one in PEOPLE)}, PIN {PIN}\n")


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8123))

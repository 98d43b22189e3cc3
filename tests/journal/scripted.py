"""A table that deals by script and writes the journal of it; and somebody who spoils that."""

import base64
import hashlib
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nacl.secret import SecretBox

from controller.cards import composition
from controller.deal import sequence as fair
from controller.journal.attempt_entries import required_fields
from controller.journal.committer import InlineCommitter
from controller.journal.entries import StoredRow, public_event
from controller.journal.entry_kinds import ENTRY_KINDS
from controller.journal.journal import Journal
from controller.journal.packed_board_events import (
    AT_READER,
    GATE,
    HOPPER_EMPTY,
    LANDED,
    READ,
    SHUFFLED,
    CardLook,
    LoggedBoardEvent,
    pack_course,
    pack_events,
    pack_opened,
    split_into_groups,
)
from controller.journal.store import STORE_NAME, JournalStore
from controller.messages import ClientCommand, PublicEvent
from controller.rules.profile_files import load_profile
from controller.rules.regulations_page import profile_hash
from controller.signing.signed_commands import sign_command

TABLE_KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
PROFILE = load_profile("international-000")
CARDS = PROFILE.deck.cards
ABOUT: dict[str, Any] = {"simulated": True, "version": "0.1.0", "sets": {"S1": "A"}}
DEALER_BOOT, READER_BOOT = 0xD0D0D0D0, 0x0E0E0E0E
TRAY = 4
PASSES = 3
FOR_CHIEF = base64.b64encode(bytes(80)).decode()
"""As large as the box that the chief opens; nobody opens this one."""
SIGNER = b"a person's own secret, 32 bytes."
"""The seed of the Ed25519 key that every order here is signed with."""


class ScriptedTable:
    """Writes into a journal what a table writes; its boards see what the script says."""

    def __init__(self, journal: Journal, seed: int) -> None:
        self.journal = journal
        self.rng = random.Random(seed)
        self.deal = 0
        self.attempt = 0
        self.numbers = {"dealer": 0, "reader": 0}
        self.first: list[LoggedBoardEvent] = []
        self.key = bytes(32)
        self.passes = PASSES

    def open(self) -> None:
        self.write("opened", table="T01", table_key=TABLE_KEY, **ABOUT)

    def write(self, kind: str, *, public: bool = True, bound: bool = False, **data: Any) -> None:
        deal, attempt = (self.deal, self.attempt) if bound else (None, None)
        self.journal.append(kind, data, deal=deal, attempt=attempt, public=public)

    def commit(self, cut: int | None = 41, redeal: bool = False) -> str:
        self.deal += not redeal
        self.attempt += 1
        self.seed = self.rng.randbytes(32)
        self.cut = cut
        hashed = profile_hash(PROFILE)
        context = fair.context(TABLE_KEY, "cup/1", self.deal, self.attempt, hashed, "S1")
        self.commitment = fair.commitment(context, self.seed)
        deck = {"packs": 2, "jokers": True, "cards": CARDS}
        self.key = self.rng.randbytes(32)
        self.step("seed", public=False, box=_text(self.seal(self.seed)), for_chief=FOR_CHIEF)
        self.step(
            "committed",
            commitment=self.commitment.hex(),
            table_key=TABLE_KEY,
            match="cup/1",
            profile=PROFILE.name,
            profile_hash=hashed.hex(),
            set="S1",
            back="A",
            deck=deck,
            passes=PASSES,
        )
        self.take_cut(cut)
        self.step("begun")
        self.step("shuffled", passes=self.passes)
        self.first = [self.event("dealer", SHUFFLED, self.passes, 0)]
        return fair.sequence(self.commitment, self.seed, cut, CARDS)

    def take_cut(self, cut: int | None) -> None:
        """The players' number, and the command that it came with."""
        if cut is None:
            self.step("cut", cut=None, reason="nobody is there")
            uncut = {"uncut": True, "reason": "nobody is there"}
            self.command("start_deal", "referee", uncut, cut=None)
        else:
            self.step("cut", cut=cut)
            self.command("cut", "table", {"n": cut}, cut=cut)

    def command(self, cmd: str, role: str, args: dict[str, Any], **result: Any) -> None:
        """An order with its signature, and its row."""
        of, boot = (self.deal, self.attempt), self.journal._boot
        named: dict[str, Any] = {"deal": of[0], "attempt": of[1], "boot": boot, "cmd": cmd}
        order = ClientCommand(id=f"c{self.journal.last_number}", args=args, **named)
        order = sign_command(order, TABLE_KEY, SIGNER)
        said: dict[str, Any] = {"key": order.key, "role": role, "who": role, "cmd": cmd}
        said |= {"person": None, "args": args, "of": of, "boot": boot, "sig": order.sig}
        self.write("command", bound=True, id=order.id, result=result, **said)

    def step(self, kind: str, *, public: bool = True, **data: Any) -> None:
        if "at_ms" in required_fields(ENTRY_KINDS[kind].data):
            data["at_ms"] = 1000 * self.attempt
        self.write(kind, public=public, bound=True, **data)

    def event(self, board: Any, code: int, index: int, place: int, **more: Any) -> LoggedBoardEvent:
        self.numbers[board] += 1
        return LoggedBoardEvent(
            board=board,
            boot=DEALER_BOOT if board == "dealer" else READER_BOOT,
            number=self.numbers[board],
            attempt=self.attempt,
            code=code,
            seen=index,
            landed=max(0, index - 1),
            index=index,
            place=place,
            **more,
        )

    def card(self, index: int, outlet: int, face: int, back: int = 0) -> Iterator[LoggedBoardEvent]:
        yield self.event("dealer", AT_READER, index, 0)
        yield self.event("reader", READ, index, 0, look=CardLook(face, back, 0, 250))
        yield self.event("dealer", GATE, index, outlet)
        yield self.event("dealer", LANDED, index, outlet)

    def faces(self) -> list[int]:
        faces = [face for face, count in enumerate(composition(2, True)) for _ in range(count)]
        self.rng.shuffle(faces)
        return faces

    def record_wire(self, events: Sequence[LoggedBoardEvent]) -> None:
        for group in split_into_groups(self.seen(events)):
            self.step("wire", public=False, **pack_events(group, self.seal))

    def seal(self, plain: bytes) -> bytes:
        """Return a box under the attempt's key."""
        return bytes(SecretBox(self.key).encrypt(plain, self.rng.randbytes(24)))

    def seen(self, events: Sequence[LoggedBoardEvent]) -> list[LoggedBoardEvent]:
        """What the boards say of the attempt: first of all that they shuffled."""
        return [*self.first, *events]

    def verdict(self, outcome: str, *reasons: str, tray: int = 0, **landed: int) -> None:
        counts = dict.fromkeys("NWSE", CARDS // 4) | landed | {"tray": tray}
        fed = min(CARDS, sum(counts.values()))
        self.step(
            "verdict", outcome=outcome, reasons=list(reasons), landed=counts, fed=fed, refed=0
        )

    def play(
        self,
        cut: int | None = 41,
        open_hands: bool = False,
        recalled: str | None = None,
        sealed: Callable[[], None] | None = None,
    ) -> None:
        """One right deal, from its commitment to its reveal.

        `recalled`: why its hands are dealt again; `sealed`: the power goes while they are out.
        """
        order = self.commit(cut)
        faces = self.faces()
        events = [
            event
            for index, (letter, face) in enumerate(zip(order, faces, strict=True), start=1)
            for event in self.card(index, "NWSE".index(letter), face)
        ]
        events.append(self.event("dealer", HOPPER_EMPTY, 0, 0))
        self.record_wire(events)
        nonce, record = self.rng.randbytes(32), bytes(faces)
        self.step("dealt", fed=CARDS, refed=0)
        self.step("hands_box", public=False, box=_text(self.seal(nonce + record)))
        self.step("held", hands=fair.hands_commitment(self.commitment, nonce, record).hex())
        self.verdict("ok")
        self.command("release", "referee", {})
        self.step("released")
        if sealed is not None:
            sealed()
            self.step("sealed_to_chief", reason="POWER")
            return
        if recalled is not None:
            self.write("match", bound=True, event="Recounted", at_ms=1000 * self.attempt)
            self.command("recount", "referee", {"counts": {}}, phase="cut")
            self.step("recalled", reasons=[recalled])
        course: dict[str, Any] = {} if recalled else {"course": pack_course(self.seen(events))}
        self.step("revealed", **course, seed=self.seed.hex(), cut=cut)
        if open_hands:
            shown = {"nonce": nonce.hex(), "hands": record.hex(), "key": self.key.hex()}
            told: dict[str, Any] = {**shown, "events": pack_opened(self.seen(events))}
            self.step("record", **told)

    def give_up(
        self, events: Sequence[LoggedBoardEvent], reason: str, landed: dict[str, int], outcome: str
    ) -> None:
        """The end of an attempt that gave no hands, and its opened record."""
        self.record_wire(events)
        self.verdict(outcome, reason, **landed)
        self.step("revealed", seed=self.seed.hex(), cut=self.cut)
        told = pack_opened(self.seen(events))
        self.step("record", nonce=None, hands=None, events=told, key=self.key.hex())

    def missing_card(self) -> None:
        """An attempt whose set lacks a card: 107 land, as the sequence says."""
        order = self.commit(12)
        faces = self.faces()[1:]
        events = [
            event
            for index, face in enumerate(faces, start=1)
            for event in self.card(index, "NWSE".index(order[index - 1]), face)
        ]
        short = order[-1]
        ended = self.event("dealer", HOPPER_EMPTY, 0, 0)
        self.give_up([*events, ended], "MISSING_CARD", {short: 26}, "misdeal")

    def void(self, reason: str) -> None:
        """An attempt that ended after ten cards for a reason outside the cards."""
        order = self.commit(None)
        faces = self.faces()
        events = [
            event
            for index in range(1, 11)
            for event in self.card(index, "NWSE".index(order[index - 1]), faces[index])
        ]
        landed = {seat: order[:10].count(seat) for seat in "NWSE"}
        self.give_up(events, reason, landed, "void")

    def redeal(self) -> None:
        """The next attempt is one of the same deal."""
        self.deal -= 1


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


Script = Callable[[ScriptedTable], None]


def wall() -> str:
    return "2026-01-01T12:00:00.000Z"


async def write_journal(state_dir: Path, script: Script, seed: int = 1) -> list[PublicEvent]:
    """Let a scripted table write its journal; return the public events, as a feed has them."""
    store = JournalStore.open(state_dir)
    journal = Journal(store, InlineCommitter(store), wall=wall, boot="b007")
    feed: list[PublicEvent] = []
    journal.on_committed = lambda entries: feed.extend(
        public_event(item, "T01", True) for item in entries if item.entry.public
    )
    table = ScriptedTable(journal, seed)
    table.open()
    script(table)
    await journal.sync()
    await journal.close()
    return feed


def whole_table(table: ScriptedTable) -> None:
    """Every kind of end: a right deal, a misdeal, voids, an opened deal, an uncut one."""
    table.play()
    table.missing_card()
    table.redeal()
    table.play(open_hands=True)
    table.void("LID_OPENED")
    table.redeal()
    table.play(cut=None)


@cache
def empty_store() -> bytes:
    """The file of a journal without any row."""
    with TemporaryDirectory() as folder:
        JournalStore.open(Path(folder)).close()
        return (Path(folder) / STORE_NAME).read_bytes()


def write_rows(state_dir: Path, rows: Sequence[tuple[int, bytes, bytes]]) -> None:
    """Put rows into a journal's file as somebody with the file in his hands can."""
    path = state_dir / STORE_NAME
    path.write_bytes(empty_store())
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        triggers = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        for name in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.executemany("INSERT INTO journal VALUES (?, ?, ?)", rows)
        for sql in triggers.values():
            db.execute(sql)
        db.execute("COMMIT")


def rechained(rows: Sequence[StoredRow]) -> list[StoredRow]:
    """Chain rows anew, as somebody does who rewrites the whole file."""
    head, out = bytes(32), []
    for row in rows:
        framed = len(row.body).to_bytes(2, "big") + row.body
        tag = b"dealtable/entry/1"
        head = hashlib.sha256(len(tag).to_bytes(2, "big") + tag + head + framed).digest()
        out.append(StoredRow(row.n, row.body, head))
    return out

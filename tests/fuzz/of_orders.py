"""Commands at a live table: JSON as it comes off the network, people's hands, buttons and faults.

An input is lines of JSON, each one thing that happens (`MOVES`): a command as a client writes
it (`cmd`, `args`, `as`, and where it wants to be wrong `deal`, `attempt`, `id`, `sig`), time
that passes, buttons, hands, faults, and words of a board that no board of ours says.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from controller.commands.registry import COMMANDS, BadArgs, parse_args, refusal_reply
from controller.faults import fault_catalogue
from controller.gateway.command_socket import BadCommand, parse_command
from controller.gateway_protocol import (
    MAX_GATEWAY_LINE_BYTES,
    CommandMessage,
    GatewayProtocolError,
    LineSplitter,
    ReplyMessage,
    decode_gateway_line,
    decode_machine_line,
    encode_line,
)
from controller.match.reducer import replay_events
from controller.match.transfer_document import TransferDocument, pack_document, state_digest
from controller.messages import ClientCommand, CommandReply, MachinePhase, PublicState, Role
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from controller.rules.regulations_page import profile_hash
from controller.signing.signed_commands import sign_command, sign_document
from controller.signing.signed_heads import verify_key
from drivers.firmware import framing, protocol
from sim.board_faults import BoardName
from sim.mechanics.card_handling import OutOfReach
from sim.mechanics.fault_menu import FaultError, parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import TABLE_KEY, TABLE_SIGN, TableInProcess, run_table_in_process
from sim.virtual_loop import VirtualLoop
from tests.fuzz.folders import folder
from tests.fuzz.jsonlines import lines_of
from tests.fuzz.refusals import one_line
from tests.machine.stages import STAGES

MOST_MOVES = 40
ANSWER_S = 400.0
LONGEST_WAIT_S = 600.0
PROFILES = (
    *("international-000", "huaian-2017-001", "huainan-2013-003", "bcta-004", "bigtwo-2017-002"),
)
SEATS = ("N", "W", "S", "E")
Move = Mapping[str, Any]


def orders(data: bytes) -> None:
    """Every command has an answer of the closed set, and the table lives on."""
    moves: Sequence[Move] = [move for move in lines_of(data) if isinstance(move, dict)][:MOST_MOVES]
    with folder() as at, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(_life(moves, at))


async def _life(moves: Sequence[Move], runtime_dir: Path) -> None:
    """`profile` and `stage` (tests/machine/stages.py) of the first move say where it begins."""
    begins = moves[0] if moves else {}
    name = next((name for name in PROFILES if name == begins.get("profile")), PROFILES[0])
    stage = next((name for name in STAGES if name == begins.get("stage")), None)
    loop = asyncio.get_running_loop()
    broken: list[str] = []
    loop.set_exception_handler(lambda _, about: broken.append(_told(about)))
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, profile=load_profile(name)
    ) as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        if stage is not None and name == PROFILES[0]:
            await STAGES[stage](at)
        table = _Table(at)
        for move in moves:
            await table.move(move)
            assert not broken, broken
        await table.settle()
        assert not broken, broken


def _told(about: Mapping[str, Any]) -> str:
    error = about.get("exception")
    return f"{about.get('message')}: {error!r}"


class _Table:
    """A table and whoever moves things at it."""

    def __init__(self, at: TableInProcess) -> None:
        self.at = at
        self._number = 0
        self._asked: list[asyncio.Future[CommandReply]] = []

    async def move(self, move: Move) -> None:
        """Let one thing happen."""
        for name, deed in _MOVES.items():
            if name in move:
                await deed(self, move)
                return

    async def settle(self) -> None:
        """All is answered, and the table still tells how it is."""
        for asked in self._asked:
            self._right(await asked)
        reply = await self._ask(ClientCommand(id="last", cmd="snapshot"))
        assert reply.ok, reply
        state = msgspec.convert(reply.result, PublicState)
        assert self.at.machine.record.state is not None
        assert state.machine.phase in set(MachinePhase)

    # Commands.

    async def command(self, move: Move) -> None:
        """Give a command as it would come off the network, and wait for its answer or not."""
        said = {key: move[key] for key in ("cmd", "args", "deal", "attempt", "id") if key in move}
        self._number += 1
        said.setdefault("id", f"c{self._number}")
        if "deal" not in said and "attempt" not in said:
            said["deal"], said["attempt"] = self.at._bound_to(str(said["cmd"]))
        try:
            command = parse_command(
                msgspec.json.encode(said) + bytes(str(move.get("tail", "")), "utf8")
            )
        except BadCommand as bad:
            refused = refusal_reply(bad.id, "BAD_COMMAND", found=bad.found, expected=bad.expected)
            msgspec.json.encode(refused)
            return
        role = next((role for role in Role if role.value == move.get("as")), Role.CHIEF)
        command = self._signed(command, self.at.signers[role])
        if isinstance(move.get("sig"), str):
            command = msgspec.structs.replace(command, sig=move["sig"])
        if isinstance(move.get("key"), str):
            command = msgspec.structs.replace(command, key=move["key"])
        if move.get("later"):
            self._asked.append(asyncio.ensure_future(self._ask(command)))
            await asyncio.sleep(0)
        else:
            self._right(await self._ask(command))

    def _signed(self, command: ClientCommand, seed: bytes) -> ClientCommand:
        """Sign it; what cannot be signed says that it was."""
        try:
            return self.at.sign_command(command, seed)
        except ValueError:
            key = sign_command(ClientCommand(id="", cmd=""), TABLE_KEY, seed).key
            return msgspec.structs.replace(command, key=key, sig="00" * 64)

    async def _ask(self, command: ClientCommand) -> CommandReply:
        line = encode_line(CommandMessage(1, "peer", command))
        message = decode_gateway_line(line[:-1])
        assert isinstance(message, CommandMessage)
        async with asyncio.timeout(ANSWER_S):
            reply = await self.at.lasting.submit(message.body)
        answer = decode_machine_line(encode_line(ReplyMessage(1, reply))[:-1])
        assert isinstance(answer, ReplyMessage)
        return reply

    def _right(self, reply: CommandReply) -> None:
        assert reply.ok == (reply.error is None)
        if reply.error is not None:
            assert reply.error.code in fault_catalogue(), reply.error
            assert reply.error.code not in ("STORAGE_FAILED", "NOT_CARRIED_OUT"), reply.error
            assert "{" not in reply.error.action, reply.error

    # Time, hands, buttons.

    async def wait(self, move: Move) -> None:
        await asyncio.sleep(_seconds(move["wait"]))

    async def press(self, move: Move) -> None:
        seat = move["press"]
        if seat == "start":
            await self.at.press_start()
        elif seat in SEATS:
            key = "red" if move.get("key") == "red" else "green"
            await self.at.press(
                seat, cast(Any, key), for_s=min(5.0, _seconds(move.get("for", 0.2)))
            )

    async def hands(self, move: Move) -> None:
        people, done = self.at.people, None
        try:
            match move["hands"]:
                case "take":
                    people.take_hands()
                case "lay":
                    people.lay_down()
                case "load":
                    people.load()
                case "collect":
                    done = people.collect()
                case "square":
                    people.reload_hopper()
                case "lid":
                    self.at.sim.world.set_lid(not self.at.sim.world.lid_open)
                case "estop":
                    self.at.sim.world.set_estop(not self.at.sim.world.estop)
                case "deal":
                    await self._dealt()
            if done is not None:
                await done
        except OutOfReach:
            pass

    async def _dealt(self) -> None:
        """Let the cut and the cards have their time, as long as cards move."""
        for _ in range(60):
            phase = self.at.states[-1].machine.phase
            if phase not in (MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING):
                return
            await asyncio.sleep(1)

    async def fault(self, move: Move) -> None:
        with suppress(FaultError):
            self.at.sim.world.add_fault(parse_fault(str(move["fault"])))

    async def power(self, move: Move) -> None:
        name: BoardName = "reader" if move["power"] == "reader" else "dealer"
        self.at.sim.kill(name)
        await asyncio.sleep(_seconds(move.get("for", 1)))
        self.at.sim.start(name)

    async def board(self, move: Move) -> None:
        """A board says a word that it should not: any event, in its turn."""
        dealer = move["board"] != "reader"
        link = (self.at.machine.dealer if dealer else self.at.machine.reader).link
        if not link.is_up or link.welcome is None:
            return
        byte = [_whole(move.get(name), 255) for name in ("code", "in", "out", "index", "place")]
        state = self.at.machine.record.state
        attempt = _whole(move.get("attempt", state.attempt), 2**32 - 1)
        body = struct.pack(
            protocol.BODIES[protocol.EVENT], link.welcome.boot, link.last_event + 1, attempt, *byte
        )
        if isinstance(look := move.get("look"), list):
            body += bytes(_whole(each, 255) for each in look[:4]).ljust(4, b"\0")
        header = struct.pack(protocol.BOARD_HEADER, protocol.EVENT, link._session)
        link._on_readable(framing.encode(header + body))

    async def arrives(self, move: Move) -> None:
        """A match comes from another table, right but for what was changed in it."""
        plain = move["arrives"]
        if not isinstance(plain, dict):
            return
        try:
            transfer = msgspec.convert(plain, TransferDocument)
        except (msgspec.ValidationError, UnicodeEncodeError):
            return
        transfer = self._sealed(transfer, self.at.machine._profile)
        document = pack_document(transfer)
        for number, part in enumerate(document.parts, start=1):
            args = {"digest": document.digest, "part": number, "text": part}
            args["parts"] = len(document.parts)
            args["verify"] = verify_key(TABLE_SIGN).hex()
            args["sig"] = sign_document(document.digest, TABLE_SIGN)
            await self.command({"cmd": "take_over", "args": args, "as": "chief"})

    def _sealed(self, transfer: TransferDocument, profile: Profile) -> TransferDocument:
        """Let the document say the result that its events lead to, whatever they are."""
        match = replay_events(profile, transfer.meeting, transfer.record, transfer.events)
        hashed = profile_hash(profile).hex()
        return msgspec.structs.replace(
            transfer, result=state_digest(match), to="T01", profile_hash=hashed
        )


_MOVES: Mapping[str, Callable[[_Table, Move], Awaitable[None]]] = {
    "cmd": _Table.command,
    "wait": _Table.wait,
    "press": _Table.press,
    "hands": _Table.hands,
    "fault": _Table.fault,
    "power": _Table.power,
    "board": _Table.board,
    "arrives": _Table.arrives,
}


def _seconds(value: object) -> float:
    fine = isinstance(value, int | float) and 0 <= value <= LONGEST_WAIT_S
    return float(value) if fine and isinstance(value, int | float) else 1.0


def _whole(value: object, most: int) -> int:
    return value % (most + 1) if isinstance(value, int) else 0


def requests(data: bytes) -> None:
    """Bytes off the network and off the bridge: messages, or a refusal in its words."""
    for line in data.split(b"\n")[:MOST_MOVES]:
        try:
            command = parse_command(line)
        except BadCommand as bad:
            refused = refusal_reply(bad.id, "BAD_COMMAND", found=bad.found, expected=bad.expected)
            assert refused.error is not None
            assert len(msgspec.json.encode(refused)) < 1 << 16
        else:
            try:
                if command.cmd in COMMANDS:
                    parse_args(command.cmd, command.args)
            except BadArgs as bad_args:
                one_line(bad_args)
        for read in (decode_gateway_line, decode_machine_line):
            try:
                read(line)
            except GatewayProtocolError:
                continue
    most = 1 + len(data) % 97
    lines, found = LineSplitter(MAX_GATEWAY_LINE_BYTES), []
    for at in range(0, len(data), most):
        found += lines.split(data[at : at + most])
    assert found == data.split(b"\n")[:-1] or len(data) > MAX_GATEWAY_LINE_BYTES

"""A hand that was opened: its author cannot have that deal dealt again, whichever way he tries."""

import asyncio
import base64
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from controller.cards import face_text
from controller.journal.store import JournalStore
from controller.messages import ClientCommand, CommandReply, Role
from controller.roster import Certificate, Roster
from controller.vault.dealt_hands import dealt_hand
from controller.vault.sealing import unseal_with
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables import table_in_process
from sim.tables.table_in_process import TableInProcess
from tests.machine.deals_ahead import AHEAD, deal_one_played, result_confirmed
from tests.machine.opened_hands import dealt
from tests.machine.stages import STAGES, STEPS, at, ordered, refused
from tests.machine.tables import Tables
from tests.machine.troubles import Ground

pytestmark = pytest.mark.virtual
WHY: dict[str, Any] = {"seat": "N", "reason": "a hidden card?"}
SECOND, OTHER = (random.Random(name).randbytes(32) for name in ("second", "other"))
"""Keys of chiefs: another one under the same name, and another person's."""
BY_WORD: dict[str, Any] = {"verbal": True, "reason": "he said so"}


@pytest.fixture
def ground(runtime_dir: Path, tmp_path: Path) -> Ground:
    """Make a place for tables with two sets."""
    return Ground(runtime_dir, tmp_path)


@pytest.fixture(autouse=True)
def chiefs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Admit three chiefs' keys: `chief`, one more of his, and another person's."""
    usual = table_in_process._roster

    def more(signers: Mapping[Role, bytes]) -> Roster:
        added = ((" Chief ", SECOND), ("deputy", OTHER))
        return Roster((*usual(signers).clients, *(chief(name, seed) for name, seed in added)))

    monkeypatch.setattr(table_in_process, "_roster", more)


def chief(name: str, seed: bytes) -> Certificate:
    return Certificate(
        name=name,
        role=Role.CHIEF,
        curve="D" * 40,
        verify=bytes(SigningKey(seed).verify_key),
        seal=bytes(PrivateKey(seed).public_key),
    )


async def said(
    trial: TableInProcess, key: bytes, cmd: str, *, person: str | None = None, **args: Any
) -> CommandReply:
    """Give an order with a key of one's own."""
    plain = trial.make_command(Role.CHIEF, cmd, **args)
    command = ClientCommand(
        id=f"own {plain.id}",
        cmd=cmd,
        deal=plain.deal,
        attempt=plain.attempt,
        person=person,
        args=args,
    )
    return await trial.lasting.submit(trial.sign_command(command, key))


async def refusal(
    trial: TableInProcess, key: bytes, cmd: str, *, person: str | None = None, **args: Any
) -> str:
    reply = await said(trial, key, cmd, person=person, **args)
    assert reply.error is not None, reply.result
    return reply.error.code


async def opened(trial: TableInProcess) -> None:
    """Open a hand behind the first lead, with the chief's key."""
    await STAGES["play, after the first lead"](trial)
    await ordered(trial, Role.CHIEF, "open_hand", **WHY)


async def test_what_is_opened_is_the_hand_and_only_its_asker_can_read_it(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        reply = await ordered(trial, Role.CHIEF, "open_hand", **WHY)
        assert reply.result is not None
        plain = unseal_with(trial.signers[Role.CHIEF], base64.b64decode(reply.result["sealed"]))
        known = trial.machine.table_boards.hands_with_players.dealt_hands()
        assert known is not None
        assert plain.decode().split() == [
            face_text(face) for face in dealt_hand(known.vault, known.sequence, "N")
        ]
        (told,) = [event for event in trial.events if event.kind == "opened_hand"]
        assert {**told.data, "key": ""} == {**WHY, "by": "chief", "key": ""}


async def test_only_a_chief_opens_a_hand(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        for role in Role:
            if role is not Role.CHIEF:
                assert await refused(trial, role, "open_hand", **WHY) == "WRONG_ROLE", role


async def test_no_hand_is_opened_before_the_first_lead_where_nobody_claims(ground: Ground) -> None:
    async with ground.table() as trial:
        for stage, step in STEPS.items():
            await step(trial)
            if stage in ("count_check", "tribute", "play, before the first lead"):
                code = await refused(trial, Role.CHIEF, "open_hand", **WHY)
                assert code == "HAND_CLOSED", stage
            if stage == "play, before the first lead":
                break


async def test_a_hand_is_not_opened_without_a_reason(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        assert await refused(trial, Role.CHIEF, "open_hand", seat="N") == "BAD_COMMAND"
        assert await refused(trial, Role.CHIEF, "open_hand", seat="N", reason=" ") == "BAD_COMMAND"


async def test_a_second_key_of_the_same_person_is_the_same_person(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        assert await refusal(trial, SECOND, "redeal", reason="no") == "OPENED_BY_YOU"


async def test_nobody_has_it_dealt_again_by_somebodys_word(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        for by in ("chief", "CHIEF", "Mr Nobody", "deputy"):
            code = await refused(trial, Role.REFEREE, "redeal", by=by, **BY_WORD)
            assert code == "OPENED_BY_YOU", by


async def test_another_chief_may_have_it_dealt_again(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        assert (await said(trial, OTHER, "redeal", reason="a card lay open")).ok


async def test_a_person_is_the_same_whichever_key_he_has_in_hand(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        seed = trial.signers[Role.CHIEF]
        assert (await said(trial, seed, "open_hand", person="Li Na", **WHY)).ok
        (told,) = [event for event in trial.events if event.kind == "opened_hand"]
        assert told.data["by"] == "Li Na (chief)"
        for person in ("Li Na", "LI  NA", "Chief"):
            assert await refusal(trial, OTHER, "redeal", person=person, reason="x") == (
                "OPENED_BY_YOU"
            )
        own = await refusal(trial, seed, "redeal", person="Wu Jun", reason="x")
        assert own == "OPENED_BY_YOU"
        assert (await said(trial, OTHER, "redeal", person="Wu Jun", reason="a card lay open")).ok


async def test_what_leaves_the_deal_unplayed_is_not_his_either(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        away: dict[str, Any] = {"table": "T09"}
        assert await refused(trial, Role.CHIEF, "transfer", **away) == "OPENED_BY_YOU"
        by_word = {"verbal": True, "by": "chief", **away}
        assert await refused(trial, Role.REFEREE, "transfer", **by_word) == "OPENED_BY_YOU"
        wrong: dict[str, Any] = {"deal": 1, "order": ["E", "W"], "reason": "written wrongly"}
        later = {**wrong, "choice": "void_later"}
        assert await refused(trial, Role.CHIEF, "adjust", **later) == "OPENED_BY_YOU"
        await ordered(trial, Role.CHIEF, "adjust", **wrong, choice="from_now")


async def test_it_is_that_deal_in_all_its_attempts(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        assert (await said(trial, OTHER, "redeal", reason="a card lay open")).ok
        await asyncio.sleep(2)
        await dealt(trial)
        assert trial.states[-1].match.attempt == 2
        assert await refused(trial, Role.CHIEF, "redeal", reason="no") == "OPENED_BY_YOU"
        assert (await said(trial, OTHER, "redeal", reason="another card")).ok


async def test_an_attempt_of_that_deal_is_not_voided_by_him(ground: Ground) -> None:
    async with ground.table() as trial:
        await opened(trial)
        assert (await said(trial, OTHER, "redeal", reason="a card lay open")).ok
        await asyncio.sleep(2)
        trial.lay_down()
        await trial.load()
        await ordered(trial, Role.REFEREE, "start_deal")
        assert await refused(trial, Role.CHIEF, "void", reason="no") == "OPENED_BY_YOU"
        assert (await said(trial, OTHER, "void", reason="the cut was seen")).ok


async def test_the_next_deal_is_his_to_redeal_again(table: Tables) -> None:
    async with table(**AHEAD) as trial:
        await deal_one_played(trial)
        await ordered(trial, Role.TABLE, "confirm", seat=trial.states[-1].match.leader)
        await ordered(trial, Role.CHIEF, "open_hand", **WHY)
        await ordered(trial, Role.REFEREE, "start_deal")  # the next one, ahead
        assert await refused(trial, Role.CHIEF, "redeal", reason="no") == "OPENED_BY_YOU"
        await ordered(trial, Role.CHIEF, "void", reason="of the next deal he knows nothing")
        await result_confirmed(trial)
        assert trial.states[-1].match.deal == 2


async def test_a_hand_and_a_redeal_in_one_breath_are_not_both_his(ground: Ground) -> None:
    async with ground.table() as trial:
        await STAGES["play, after the first lead"](trial)
        first = trial.make_command(Role.CHIEF, "open_hand", **WHY)
        then = trial.make_command(Role.CHIEF, "redeal", reason="no")
        replies = await asyncio.gather(*map(trial.lasting.submit, (first, then)))
        assert [reply.ok for reply in replies] == [True, False]
        assert replies[1].error is not None
        assert replies[1].error.code == "OPENED_BY_YOU"


async def test_a_restart_forgets_nothing_of_it(
    tmp_path: Path, runtime_dir: Path, chiefs: None
) -> None:
    boots = iter(range(1, 99))
    sim = HardwareInProcess(MechanicsSettings(), random.Random(3), boots=lambda: next(boots))
    signers = {role: random.Random(role.value).randbytes(32) for role in Role}
    for life in (1, 2):
        given: dict[str, Any] = {
            "store": JournalStore.open(tmp_path),
            "state_dir": tmp_path,
            "sim": sim,
            "seed": life,
        }
        async with table_in_process.run_table_in_process(
            MechanicsSettings(),
            runtime_dir,
            signers=signers,
            command_prefix=f"life {life} ",
            **given,
        ) as trial:
            if life == 1:
                await opened(trial)
                continue
            await trial.wait_for_state(lambda state: state.match.phase == "play")
            await asyncio.sleep(2)
            assert at(trial) == "play"
            assert await refused(trial, Role.CHIEF, "redeal", reason="no") == "OPENED_BY_YOU"
            assert await refusal(trial, SECOND, "redeal", reason="no") == "OPENED_BY_YOU"
            assert (await said(trial, OTHER, "redeal", reason="a card lay open")).ok
    sim.close()

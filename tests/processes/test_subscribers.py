"""Who joins a table's feed in mid-deal, and who is kept out."""

import signal

import msgspec

from controller.keys.table_keys import create_client_keys
from controller.messages import MachinePhase, PublicState, Role
from controller.roster import read_certificate
from sim.tables.table_processes import TableProcess
from tests.processes.people import People
from tests.processes.program import Dealtable, Start


async def test_who_joins_in_mid_deal_has_the_whole_state_at_once_and_so_has_the_next(
    table: TableProcess, people: People
) -> None:
    now = await people.deal_to_card()
    for _ in range(3):
        async with table.client(Role.OBSERVER) as late:
            first = await late.next_message()
        assert first.topic == f"state/{table.id}"
        state = msgspec.json.decode(first.body, type=PublicState)
        assert (state.machine.deal, state.machine.attempt) == (1, 1)
        assert state.machine.phase is MachinePhase.DEALING
        assert state.machine.fed >= now.machine.fed
        assert state.fairness == now.fairness
        now = state


async def test_a_stranger_gets_nothing_and_the_daemons_log_names_his_key(
    table: TableProcess, people: People, start: Start, dealtable: Dealtable
) -> None:
    stranger = create_client_keys(table.state_dir, "stranger", Role.CHIEF)
    key_file = stranger.with_suffix(".key_secret")
    here = ("--state-dir", table.state_dir)
    watch = await start("watch", "--json", "--key", key_file, *here)
    await watch.line("key refused")
    sent = await dealtable("send", "snapshot", "--as", "stranger", *here)
    assert (sent.code, sent.out) == (1, "")
    assert "key refused" in sent.err

    await people.held()  # there was enough to hear
    assert (await watch.end(signal.SIGINT)).out == ""
    log = (table.state_dir / "daemon.log").read_text()
    refusals = [line for line in log.splitlines() if "key refused" in line]
    assert refusals
    assert all(read_certificate(stranger).curve in line for line in refusals)

"""A daemon that is killed in mid-deal, and started again."""

import base64
import json
import os
import signal

from controller.messages import Outcome, Role
from controller.trials.hall import RunningTable
from tests.processes.conftest import SPEED, Dealtable
from tests.processes.people import People
from tests.processes.processes import children


async def test_a_daemon_killed_in_mid_deal_voids_what_it_left_and_opens_its_record(
    table: RunningTable, dealtable: Dealtable
) -> None:
    async with People(table) as people:
        before = await people.mid_deal()
        assert table.daemon is not None
        os.kill(table.daemon.pid, signal.SIGKILL)
        await table.daemon.wait()

    await table.start_daemon()
    async with People(table) as people:
        voided = await people.until(
            lambda s: bool(s.fairness) and s.fairness[-1].reveal is not None
        )
        assert voided.boot != before.boot
        (proof,) = voided.fairness
        assert (proof.commitment, proof.attempt) == (before.fairness[-1].commitment, 1)
        assert (proof.outcome, proof.reasons) == (Outcome.VOID, ["RESTARTED"])
        told = await people.order(Role.OBSERVER, "events", since=0)
        assert told.result is not None
        record = next(event for event in told.result["events"] if event["kind"] == "record")
        assert record["attempt"] == 1
        looks = [base64.b64decode(group["looks"]) for group in record["data"]["events"]]
        assert any(looks)

        await table.control.do("speed", value=SPEED)
        await table.control.do("collect")
        again = await people.held()
        assert (again.machine.deal, again.machine.attempt) == (1, 2)
        assert again.fairness[-1].outcome is Outcome.OK
        assert await people.pockets() == [27, 27, 27, 27, 0]

    checked = await dealtable("verify", table.state_dir, "--json")
    report = json.loads(checked.out)
    assert (checked.code, report["findings"]) == (0, [])
    assert [attempt["outcome"] for attempt in report["attempts"]] == ["void", "ok"]
    assert report["attempts"][0]["gates"]


async def test_a_daemon_whose_machine_is_killed_ends_and_says_so(table: RunningTable) -> None:
    assert table.daemon is not None
    parts = children(table.daemon.pid)
    (machine,) = [pid for words, pid in parts.items() if "run machine" in words]
    os.kill(machine, signal.SIGKILL)
    assert await table.daemon.wait() == 1
    log = (table.state_dir / "daemon.log").read_text()
    assert "a part of the table ended" in log

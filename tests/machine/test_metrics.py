"""What the machine counts, and when it may be told."""

import re

import pytest

from controller.gateway_protocol import MetricsMessage
from controller.journal.committer import CommitCallback, InlineCommitter, RowsCommitted, WriteGroup
from controller.journal.entries import StoredRow
from controller.journal.journal import Journal
from controller.journal.store import JournalStore
from controller.machine.machine_metrics import MachineMetrics
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from sim.tables.table_in_process import TableInProcess
from tests.machine.tables import Tables

pytestmark = pytest.mark.virtual

LABEL = re.compile(r"[A-Za-z0-9_]{1,32}")
OF_CARDS = {"reads", "tray_cards", "gate_turns", "misreads", "cards_fed", "double_feeds", "jams"}


def values(told: MetricsMessage) -> dict[tuple[str, ...], float]:
    return {(sample.name, *sample.labels): sample.value for sample in told.samples}


def settled(told: MetricsMessage) -> frozenset[tuple[tuple[str, ...], float]]:
    """What is known of cards."""
    return frozenset((name, n) for name, n in values(told).items() if name[0] in OF_CARDS)


def meter_of(trial: TableInProcess) -> MachineMetrics:
    return trial.machine.metrics


async def test_a_deal_is_counted_card_by_card(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        await trial.return_hands()
        told = meter_of(trial).collect()

    seen = values(told)
    assert seen["deals",] == seen["set_deals", "S1"] == seen["attempts", "ok"] == 1
    assert (seen["cards_fed", "hopper"], seen["cards_fed", "tray"]) == (108, 0)
    assert (seen["reads", "face"], seen["lifts",]) == (108, 1)
    assert 60 < seen["gate_turns",] <= 108
    assert seen["line_sessions", "dealer"] == seen["line_sessions", "reader"] == 1
    routes = next(each for each in told.distributions if each.name == "route_latency_seconds")
    assert sum(routes.counts) == 108


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        ("unreadable:at=5,times=5", [("tray_cards",), ("misreads",), ("reads", "unreadable")]),
        ("double_feed:at=30", [("double_feeds",)]),
        ("jam:at=9,place=landing", [("jams", "landing")]),
        ("missing_card", [("redeals", "COUNT_SHORT")]),
        ("stall:motor=gate", [("stalls", "gate"), ("voids", "STALL"), ("faults", "STALL")]),
    ],
)
async def test_what_went_wrong_is_counted_by_its_name(
    table: Tables, fault: str, names: list[tuple[str, ...]]
) -> None:
    async with table(fault) as trial:
        await trial.play_attempt()
        await trial.wait_for_state(lambda state: state.fairness[-1].outcome is not None)
        seen = values(meter_of(trial).collect())
        assert [name for name in names if seen.get(name, 0) < 1] == []


async def test_an_attempt_counts_once_under_the_first_of_its_reasons(table: Tables) -> None:
    async with table("missing_card") as trial:
        state = await trial.play_attempt()
        seen = values(meter_of(trial).collect())
    assert state.fairness[-1].outcome is AttemptOutcome.MISDEAL
    by_reason = {name: n for name, n in seen.items() if name[0] == "redeals"}
    assert by_reason == {("redeals", state.fairness[-1].reasons[0]): 1}
    assert state.counters.redeals == 1


async def test_no_count_tells_of_a_card_before_the_verdict(table: Tables) -> None:
    """A gate that turned, a card in the tray: each would say where the last card went."""
    told: list[tuple[int, bool, MetricsMessage]] = []

    def ended(state: PublicState) -> bool:
        public = any(event.kind == "verdict" for event in trial.events)
        told.append((state.machine.fed, public, meter.collect()))
        return public

    async with table("unreadable:at=5,times=5") as trial:
        meter = meter_of(trial)
        before = settled(meter.collect())
        await trial.wait_for_phase(MachinePhase.EMPTY)
        await trial.send_command(Role.REFEREE, "start_deal")
        await trial.wait_for_phase(MachinePhase.COMMITTED)
        await trial.send_command(Role.TABLE, "cut", n=40)
        await trial.wait_for_state(ended)

    assert max(fed for fed, public, _ in told if not public) > 100
    assert {settled(each) for _, public, each in told if not public} == {before}
    assert settled(told[-1][2]) != before


async def test_numbers_and_names_are_all_that_is_told(table: Tables) -> None:
    async with table("unreadable:at=5,times=5") as trial:
        await trial.play_attempt()
        told = meter_of(trial).collect()
    for sample in told.samples:
        assert all(LABEL.fullmatch(label) for label in sample.labels), sample
        assert type(sample.value) in (int, float)


async def test_counts_of_entries_go_on_over_a_restart() -> None:
    store = JournalStore.in_memory()
    meter = MachineMetrics()
    assert values(meter.collect())["deals",] == 0
    journal = Journal(
        store,
        meter.time_commits(InlineCommitter(store)),
        wall=lambda: "2027-01-01T00:00:00Z",
        boot="ab",
    )
    journal.append("released", {}, deal=1, attempt=1, public=True)
    await journal.sync()
    again = MachineMetrics()
    for chained in journal.entries():
        again.count_entry(chained.entry)
    await journal.close()
    assert values(again.collect())["deals",] == 1


class Held:
    """A committer whose answers come when the test says so."""

    def __init__(self) -> None:
        self.rows: list[StoredRow] = []

    def start(self, answer: CommitCallback) -> None:
        self.answer = answer

    def commit(self, group: WriteGroup) -> None:
        self.rows.extend(group.rows)

    def close(self) -> None:
        pass


async def test_rows_wait_until_they_are_committed() -> None:
    meter, held, store = MachineMetrics(), Held(), JournalStore.in_memory()
    journal = Journal(
        store, meter.time_commits(held), wall=lambda: "2027-01-01T00:00:00Z", boot="ab"
    )
    for _ in range(3):
        journal.append("call", {"seat": "N", "reason": "x"}, public=True)
        journal.flush()
    assert values(meter.collect())["journal_rows_waiting",] == 3
    held.answer(RowsCommitted(2, durable=True))
    told = meter.collect()
    assert values(told)["journal_rows_waiting",] == 1
    (durable,) = [each for each in told.distributions if each.labels == ("true",)]
    assert sum(durable.counts) == 2
    store.close()

"""What must never be released: each thing that can be wrong with cards, and what follows."""

import asyncio
from collections.abc import Sequence

import pytest
from pytest_mock import MockerFixture

from controller.journal.entries import JournalEntry, StoredRow, decode
from controller.journal.store import JournalStore
from controller.machine.state.state_fold import fold_state
from controller.machine.state.table_state import MAX_SHOWN_PROOFS, TableState
from controller.messages import AttemptOutcome, MachinePhase, Role
from sim.mechanics.fault_menu import parse_fault
from tests.machine.tables import Tables
from tests.waiting import until

pytestmark = pytest.mark.virtual

# Each fault of the cards: the reasons of its misdeal.
REFUSED = [
    ("missing_card", ["COUNT_SHORT", "MISSING_CARD"]),
    ("third_copy", ["MISSING_CARD", "THIRD_COPY"]),
    ("foreign_back", ["FOREIGN_BACK"]),
    ("extra_card", ["HOPPER_NOT_EMPTY"]),
    ("face_up:at=3", ["FACE_UP"]),
    ("wrong_pocket:at=20", ["WRONG_POCKET"]),
    ("left_in_pocket:pocket=2", ["POCKET_NOT_EMPTY"]),
    ("jam:at=9,place=landing", ["NOT_LANDED"]),
    ("stall:motor=gate", ["STALL"]),
    ("pulse_lost:at=20", ["PULSE_COUNT"]),
    ("pulse_extra:at=20", ["PULSE_COUNT"]),
]
# What the machine mends by itself, without a misdeal.
MENDED = [
    "double_feed:at=30",
    "unreadable:at=5,times=2",
    "unreadable:at=5,times=5",
    "no_answer:at=11",
    "jam:at=9,place=feeder,clears_after=1",
    "jam:at=9,place=window,clears_after=1",
]


@pytest.mark.parametrize(("fault", "reasons"), REFUSED, ids=[fault for fault, _ in REFUSED])
async def test_a_wrong_deal_is_refused_for_its_reason_opened_and_dealt_again(
    table: Tables, fault: str, reasons: list[str]
) -> None:
    async with table(fault) as trial:
        refused = await trial.play_attempt()
        proof = refused.fairness[-1]
        assert proof.outcome in (AttemptOutcome.MISDEAL, AttemptOutcome.VOID)
        assert set(reasons) <= set(proof.reasons)
        assert set(reasons) <= {alert.name for alert in refused.alerts}
        assert refused.machine.phase is MachinePhase.FAULT
        kinds = [event.kind for event in trial.events]
        assert "held" not in kinds
        assert {"verdict", "revealed", "record"} <= set(kinds)

        await trial.sim.world.people.change_set()
        again = await trial.play_attempt()
        assert (again.machine.deal, again.machine.attempt) == (1, 2)
        assert again.fairness[-1].outcome is AttemptOutcome.OK
        assert again.alerts == []


@pytest.mark.parametrize(
    ("fault", "name", "cause"),
    [
        ("jam:at=9,place=gate", "JAM", "A card is jammed at the gate"),
        ("stall:motor=gate,at=20", "STALL", "A motor does not turn at the gate"),
    ],
)
async def test_an_alert_names_the_place_that_the_board_named(
    table: Tables, fault: str, name: str, cause: str
) -> None:
    async with table(fault) as trial:
        refused = await trial.play_attempt()
        assert [alert.cause for alert in refused.alerts if alert.name == name] == [cause]


async def test_a_card_more_in_the_set_is_no_card_missing(table: Tables) -> None:
    async with table("extra_card") as trial:
        refused = await trial.play_attempt()
        assert "MISSING_CARD" not in refused.fairness[-1].reasons


async def test_no_death_comes_between_a_verdict_and_the_word_that_calls_people(
    table: Tables, mocker: MockerFixture
) -> None:
    """The next daemon finds the attempt over and would call nobody: one commit has both."""
    commits: list[list[str]] = []
    write = JournalStore.write

    def heard(store: JournalStore, rows: Sequence[StoredRow], *, durable: bool) -> None:
        commits.append([decode(row.body).kind for row in rows])
        write(store, rows, durable=durable)

    mocker.patch.object(JournalStore, "write", heard)
    async with table("jam:at=9,place=gate") as trial:
        await trial.play_attempt()
        await trial.sim.world.people.collect()
        await trial.wait_for_phase(MachinePhase.COMMITTED)
        await trial.send_command(Role.CHIEF, "void", reason="wrong table")
        await trial.wait_for_state(
            lambda state: "TWO_MISDEALS" in {one.name for one in state.alerts}
        )
    ends = [kinds for kinds in commits if "verdict" in kinds]
    assert [kinds[kinds.index("verdict") :] for kinds in ends] == [
        ["verdict", "revealed", "record", "fault"],
        ["verdict", "revealed", "record", "fault", "fault"],
    ]


@pytest.mark.parametrize("fault", ["pulse_lost:at=20", "pulse_extra:at=20"])
async def test_counts_of_the_boards_that_differ_end_the_deal_at_once(
    table: Tables, fault: str
) -> None:
    async with table(fault) as trial:
        refused = await trial.play_attempt()
        assert refused.fairness[-1].reasons == ["PULSE_COUNT"]
        assert trial.sim.world.truth().arrived in (20, 21)


@pytest.mark.parametrize("fault", MENDED)
async def test_what_a_second_look_mends_is_no_misdeal(table: Tables, fault: str) -> None:
    async with table(fault) as trial:
        held = await trial.play_attempt()
        assert held.machine.phase is MachinePhase.HELD
        pockets = trial.sim.world.truth().pockets
        assert [len(cards) for cards in pockets] == [27, 27, 27, 27, 0]


async def test_two_misdeals_in_a_row_call_the_referee_who_alone_starts_the_third(
    table: Tables,
) -> None:
    async with table("wrong_pocket:at=5,repeat=true") as trial:
        await trial.play_attempt()
        await trial.sim.world.people.collect()
        twice = await trial.play_attempt()
        assert "TWO_MISDEALS" in {alert.name for alert in twice.alerts}
        await trial.sim.world.people.collect()
        waiting = await trial.wait_for_phase(MachinePhase.EMPTY)
        assert [alert.name for alert in waiting.alerts] == ["TWO_MISDEALS"]
        third = await trial.play_attempt()
        assert (third.machine.deal, third.machine.attempt) == (1, 3)


async def test_what_keeps_the_next_attempt_waiting_too_long_is_named_until_it_is_mended(
    table: Tables,
) -> None:
    async with table("wrong_pocket:at=5") as trial:
        await trial.play_attempt()
        lying = trial.people.empty_machine()
        trial.sim.world.add_fault(parse_fault("sensor_stuck:sensor=lift,value=1"))
        trial.people.fill_hopper(lying)
        named = await trial.wait_for_state(
            lambda s: any(a.name == "SENSOR_STUCK" for a in s.alerts)
        )
        assert named.machine.phase is MachinePhase.FAULT
        trial.sim.world.dealer.unstick_all()
        again = await trial.play_attempt()
        assert again.fairness[-1].outcome is AttemptOutcome.OK
        assert again.alerts == []


async def test_a_barred_set_that_was_counted_is_shown_so_before_the_machine_is_cleared(
    table: Tables,
) -> None:
    async with table("missing_card") as trial:
        refused = await trial.play_attempt()
        assert refused.sets[0].barred
        assert (await trial.send_command(Role.REFEREE, "clear_set", set="S1", cards=108)).ok
        cleared = await trial.wait_for_state(lambda s: not s.sets[0].barred)
        trial.sim.world.add_fault(parse_fault("sensor_stuck:sensor=lift,value=1"))
        await asyncio.sleep(5)
        assert "SET_BARRED" not in {alert.name for alert in trial.states[-1].alerts}
        assert cleared.machine.phase is MachinePhase.FAULT


async def test_an_open_lid_voids_the_attempt_even_when_the_hands_are_held(table: Tables) -> None:
    async with table() as trial:
        await trial.play_attempt()
        trial.sim.world.set_lid(True)
        opened = await trial.wait_for_state(lambda s: s.fairness[-1].outcome is AttemptOutcome.VOID)
        assert opened.fairness[-1].reasons == ["LID_OPENED"]
        kinds = [event.kind for event in trial.events]
        assert "withdrawn" in kinds
        assert "released" not in kinds


async def test_two_misdeals_that_somebody_has_seen_to_still_wait_for_his_order(
    table: Tables,
) -> None:
    async with table("wrong_pocket:at=5,repeat=true") as trial:
        for _ in range(2):
            await trial.play_attempt()
            await trial.sim.world.people.collect()
        await trial.wait_for_phase(MachinePhase.EMPTY)
        assert (await trial.send_command(Role.REFEREE, "acknowledge", code="TWO_MISDEALS")).ok
        seen = await trial.wait_for_state(lambda state: not state.alerts)
        assert seen.machine.phase is MachinePhase.EMPTY
        assert seen.machine.attempt == 2
        assert (await trial.send_command(Role.REFEREE, "start_deal")).ok


def committed(attempt: int, deal: int, match: str = "M1") -> JournalEntry:
    """An attempt is promised."""
    data = {"match": match, "set": "S1", "back": "A", "commitment": "00", "profile_hash": "00"}
    return JournalEntry(
        n=attempt,
        time="2027-01-01T00:00:00.000+00:00",
        boot="b",
        kind="committed",
        public=True,
        deal=deal,
        attempt=attempt,
        data=data,
    )


def test_attempts_are_counted_within_their_deal_also_where_the_next_was_dealt_ahead() -> None:
    state, told = TableState(), []
    for attempt, deal in enumerate((1, 2, 3, 2, 2, 3, 4), start=1):
        state = fold_state(state, committed(attempt, deal))
        told.append((deal, state.proofs[-1].of_deal))
        assert state.attempts_by_deal[deal] == state.proofs[-1].of_deal
    assert told == [(1, 1), (2, 1), (3, 1), (2, 2), (2, 3), (3, 2), (4, 1)]
    state = fold_state(state, committed(8, 4, match="M2"))
    assert (state.proofs[-1].attempt, state.proofs[-1].of_deal) == (8, 1)
    for attempt in range(9, 99):  # a table deals all year
        state = fold_state(state, committed(attempt, attempt))
    assert len(state.attempts_by_deal) <= MAX_SHOWN_PROOFS


async def test_a_set_that_the_shuffler_drew_in_behind_a_void_is_shown_until_it_is_put_back(
    table: Tables,
) -> None:
    async with table() as at:
        await at.wait_for_phase(MachinePhase.EMPTY)
        await at.send_command(Role.REFEREE, "start_deal")
        await at.send_command(Role.TABLE, "cut", n=40)
        await at.wait_for_phase(MachinePhase.SHUFFLING)
        at.sim.kill("dealer")
        await at.wait_for_state(lambda state: state.fairness[-1].outcome is AttemptOutcome.VOID)
        await at.sim.world.people.collect()
        at.sim.world.set_output("shuffle", 1)  # as a board leaves it that hangs
        await until(lambda: not at.sim.world.truth().hopper)
        at.sim.start("dealer")
        shown = await at.wait_for_state(
            lambda s: any(one.name == "PATH_NOT_CLEAR" for one in s.alerts)
        )
        assert "put all cards back into the hopper" in shown.alerts[-1].action
        await at.sim.world.people.collect()
        again = await at.play_attempt()
        assert again.alerts == []

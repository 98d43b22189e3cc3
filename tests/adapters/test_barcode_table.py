"""Whole deals through the barcode reader: the engine's end is another program's (peer.py)."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import AttemptOutcome, MachinePhase, PublicState, Role
from controller.vault.vault import MAX_LOOKS
from drivers.firmware import protocol
from sim.mechanics.cards import PhysicalCard
from tests.adapters.peer import END_OF_LINE, printed
from tests.adapters.rig import ENGINE, READS_MS, Says, Table, adapter_at, barcode_table, plainly

pytestmark = pytest.mark.virtual
Answers = Callable[[int, bytes | None], Says]
SPOILT = 30
"""The look that the engine spoils."""


def reasons(state: PublicState) -> set[str]:
    """Why the last attempt has no hands."""
    return set(state.fairness[-1].reasons)


async def refused(at: Table) -> set[str]:
    state = await at.trial.play_attempt()
    assert state.fairness[-1].outcome is not AttemptOutcome.OK
    return reasons(state)


async def dealt(at: Table) -> None:
    state = await at.trial.play_attempt()
    assert state.fairness[-1].outcome is AttemptOutcome.OK, state.alerts
    assert state.counters.misreads == 0


async def fed(at: Table, cards: int) -> None:
    await at.trial.wait_for_state(
        lambda state: state.machine.phase is MachinePhase.DEALING and state.machine.fed >= cards
    )


def instead(label: str | None, number: int = 0) -> Callable[[PhysicalCard], str | None]:
    """Label one card of the set otherwise than it should be."""

    def labels(card: PhysicalCard) -> str | None:
        return label if card.id % 108 == number else printed(card.face, card.back)

    return labels


def once(*says: tuple[float, bytes]) -> Answers:
    """Say something else to one trigger; the true code is added behind it."""

    def answer(look: int, code: bytes | None) -> Says:
        return [*says, *plainly(look, code)] if look == SPOILT else plainly(look, code)

    return answer


async def test_a_whole_deal_is_read_out_of_real_barcodes(runtime_dir: Path) -> None:
    async with barcode_table(runtime_dir) as at:
        held = await at.trial.play_attempt()
        assert held.fairness[-1].outcome is AttemptOutcome.OK, held.alerts
        assert at.engine.looks == 108
        boards = held.boards
        assert boards.reader is not None
        assert (boards.reader.hal, boards.trigger) == ("adapter", "asked")
        done = await at.trial.return_hands()
        assert done.fairness[-1].outcome is AttemptOutcome.OK


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "reason"),
    [
        (printed(51, 0), {"MISSING_CARD", "THIRD_COPY"}),
        (printed(0, 1), {"FOREIGN_BACK"}),
        ("2468013", {"UNREADABLE"}),
        (None, {"UNREADABLE"}),
    ],
    ids=["of another card", "of another set", "of no card", "none"],
)
async def test_a_card_with_a_wrong_code_is_refused_by_its_right_name(
    runtime_dir: Path, label: str | None, reason: set[str]
) -> None:
    async with barcode_table(runtime_dir) as at:
        at.engine.labels = instead(label)
        found = await refused(at)
        assert found <= reason
        assert found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("says", "looks"),
    [
        (once((1.0, b"\x80\xff\x00\x07")), 109),
        (once((1.0, b"7" * 600)), 109),
        (once((READS_MS - 2, printed(3, 0).encode() + END_OF_LINE)), 109),
        (lambda look, code: 2 * plainly(look, code), 108),
        (lambda look, code: [*plainly(look, code), (90.0, (code or b"") + END_OF_LINE)], 108),
        (lambda look, code: [] if look == SPOILT else plainly(look, code), 109),
        (lambda look, code: [(205.0 if look == SPOILT else 40.0, (code or b"") + b"\r")], 109),
        (lambda look, code: [(40.0, (code or b"")[:3]), (55.0, (code or b"")[3:] + b"\r")], 108),
    ],
    ids=[
        *("noise before the code", "noise without an end", "two codes in a look"),
        *("each code twice", "each code again later", "no answer once", "late once", "in pieces"),
    ],
)
async def test_what_an_engine_says_wrongly_costs_a_look_and_no_card(
    runtime_dir: Path, says: Answers, looks: int
) -> None:
    async with barcode_table(runtime_dir) as at:
        at.engine.says = says
        await dealt(at)
        assert at.engine.looks in (looks, looks + 1)  # the second: of the tray
        assert at.engine.looks >= looks


async def test_an_engine_that_answers_a_card_too_late_leads_to_no_hands(runtime_dir: Path) -> None:
    """Behind late_ms nothing tells whose answer it is; the count of the set does."""
    held: list[bytes] = []

    def answer(look: int, code: bytes | None) -> Says:
        if SPOILT <= look < SPOILT + MAX_LOOKS:
            held.append(code or b"")
            return []
        if look == SPOILT + MAX_LOOKS:
            return [(20.0, held[0] + END_OF_LINE), (80.0, (code or b"") + END_OF_LINE)]
        return plainly(look, code)

    async with barcode_table(runtime_dir) as at:
        at.engine.says = answer
        assert await refused(at) <= {"MISSING_CARD", "THIRD_COPY"}


async def test_an_engine_that_is_unplugged_is_named_and_deals_again_once_it_is_back(
    runtime_dir: Path,
) -> None:
    async with barcode_table(runtime_dir) as at:
        dealing = asyncio.ensure_future(at.trial.play_attempt())
        await fed(at, 20)
        at.engine.plug(False)
        state = await dealing
        assert state.fairness[-1].outcome is AttemptOutcome.VOID
        assert reasons(state) == {"ENGINE_LOST"}
        state = await at.trial.wait_for_state(
            lambda state: state.machine.phase is MachinePhase.FAULT
        )
        assert "ENGINE_LOST" in [alert.name for alert in state.alerts]
        at.engine.plug(True)
        await at.trial.people.collect()
        await at.trial.wait_for_state(lambda state: not state.alerts)
        await dealt(at)


@pytest.mark.slow
async def test_an_engine_that_is_unplugged_while_hands_are_held_costs_none(
    runtime_dir: Path, tmp_path: Path
) -> None:
    store = JournalStore.open(tmp_path)
    async with barcode_table(runtime_dir, store=store, state_dir=tmp_path) as at:
        await dealt(at)
        at.engine.plug(False)
        await at.trial.wait_for_state(lambda state: bool(state.alerts))
        at.engine.plug(True)
        done = await at.trial.return_hands()
        assert done.fairness[-1].outcome is AttemptOutcome.OK
    assert not verify(tmp_path, None).findings


async def test_an_engine_that_is_away_moves_no_card(runtime_dir: Path) -> None:
    async with barcode_table(runtime_dir) as at:
        await at.trial.wait_for_phase(MachinePhase.EMPTY)
        at.engine.plug(False)
        await at.trial.wait_for_state(lambda state: state.machine.phase is MachinePhase.FAULT)
        assert not (await at.trial.send_command(Role.REFEREE, "start_deal")).ok
        at.engine.plug(True)
        await dealt(at)


async def test_a_reader_that_does_not_begin_without_its_engine_names_it(runtime_dir: Path) -> None:
    """As behind a restart of the daemon, which has not heard that the engine went."""
    async with barcode_table(runtime_dir) as at:
        await at.trial.wait_for_phase(MachinePhase.EMPTY)
        at.core._engine_away = True
        dealing = asyncio.ensure_future(at.trial.play_attempt())
        state = await at.trial.wait_for_state(
            lambda state: bool(state.fairness) and state.fairness[0].outcome is not None
        )
        dealing.cancel()
        assert state.fairness[0].reasons == ["ENGINE_LOST"]
        assert (state.machine.fed, at.engine.looks) == (0, 0)


async def counts_otherwise(at: Table, more: int, *, in_a_look: bool) -> PublicState:
    """Deal, while the reader's count of cards changes by itself; return the state at the end."""
    dealing = asyncio.ensure_future(at.trial.play_attempt())
    await fed(at, 20)
    await at.trial.wait_until_seen(lambda truth: at.core.is_busy() is in_a_look)
    at.core.pulses += more
    return await dealing


@pytest.mark.parametrize(
    ("more", "in_a_look"), [(-1, False), (2, False), (-1, True), (1, True), (2, True)]
)
async def test_a_reader_that_counted_other_cards_than_the_machine_is_a_misdeal(
    runtime_dir: Path, more: int, in_a_look: bool
) -> None:
    async with barcode_table(runtime_dir) as at:
        state = await counts_otherwise(at, more, in_a_look=in_a_look)
        assert reasons(state) == {"PULSE_COUNT"}


async def test_a_reader_that_believes_it_looked_at_a_card_costs_it_a_way_over_the_tray(
    runtime_dir: Path,
) -> None:
    async with barcode_table(runtime_dir) as at:
        state = await counts_otherwise(at, 1, in_a_look=False)
        assert state.fairness[-1].outcome is AttemptOutcome.OK
        assert state.machine.refed == 1


async def test_a_slow_engine_has_the_time_that_the_configuration_gives(runtime_dir: Path) -> None:
    slow = msgspec.structs.replace(ENGINE, timeout_ms=420, late_ms=20)
    async with barcode_table(runtime_dir, engine=slow) as at:
        at.engine.says = lambda look, code: [(400.0, (code or b"") + END_OF_LINE)]
        await dealt(at)
        assert at.engine.looks == 108


@pytest.mark.slow
async def test_a_daemon_that_was_killed_goes_on_and_asks_for_no_card_twice(
    runtime_dir: Path, tmp_path: Path
) -> None:
    async with adapter_at() as at:
        async with at.daemon(
            runtime_dir, store=JournalStore.open(tmp_path), state_dir=tmp_path, seed=1
        ) as trial:
            await trial.wait_for_phase(MachinePhase.EMPTY)
            await trial.send_command(Role.REFEREE, "start_deal")
            await trial.send_command(Role.TABLE, "cut", n=40)
            await trial.wait_for_state(lambda state: state.machine.fed >= 30)
        looked: list[int] = []
        look = at.core.commands[protocol.LOOK]
        at.core.commands[protocol.LOOK] = lambda attempt, index: (
            looked.append(index) or look(attempt, index)  # type: ignore[func-returns-value]
        )
        async with at.daemon(
            runtime_dir, store=JournalStore.open(tmp_path), state_dir=tmp_path, seed=2
        ) as trial:
            held = await trial.wait_for_phase(MachinePhase.HELD)
            assert held.machine.attempt == 1
        assert len(looked) == len(set(looked)) <= 108 - 29
        assert at.engine.looks <= 110
    assert not verify(tmp_path, None).findings


@pytest.mark.slow
async def test_a_held_table_goes_on_where_it_stood(runtime_dir: Path) -> None:
    async with barcode_table(runtime_dir) as at:
        dealing = asyncio.ensure_future(at.trial.play_attempt())
        await fed(at, 20)
        await at.trial.send_command(Role.REFEREE, "hold", reason="a word with the players")
        await asyncio.sleep(3)
        await at.trial.send_command(Role.REFEREE, "resume")
        state = await dealing
        assert state.fairness[-1].outcome is AttemptOutcome.OK


@pytest.mark.slow
@pytest.mark.parametrize("every", [7, 13])
async def test_a_line_that_loses_frames_loses_no_card_and_no_look(
    runtime_dir: Path, every: int
) -> None:
    written = 0

    def spoil(data: bytes) -> list[tuple[float, bytes]]:
        nonlocal written
        written += 1
        return [] if written % every == 0 else [(0.0, data)]

    async with barcode_table(runtime_dir) as at:
        at.port.to_board.distort = spoil
        await dealt(at)
        assert at.core.pulses >= 108


@pytest.mark.slow
async def test_a_line_that_is_renewed_in_mid_deal_asks_for_the_card_again(
    runtime_dir: Path,
) -> None:
    """A session that ends with a LOOK on the way: nobody can say whether it arrived."""
    async with barcode_table(runtime_dir) as at:
        dealing = asyncio.ensure_future(at.trial.play_attempt())
        await fed(at, 20)
        at.port.to_board.distort = lambda data: []
        await asyncio.sleep(1.3)
        at.port.to_board.distort = lambda data: [(0.0, data)]
        state = await dealing
        assert state.fairness[-1].outcome is AttemptOutcome.OK, reasons(state)


async def test_a_reader_without_a_wire_is_refused_where_a_wire_is_configured(
    runtime_dir: Path,
) -> None:
    async with barcode_table(runtime_dir, trigger="wire") as at:
        state = await at.trial.wait_for_state(lambda state: bool(state.alerts))
        [alert] = state.alerts
        assert alert.name == "WRONG_SETTINGS"
        assert "asked, not wire" in alert.cause
        assert state.boards.reader is None

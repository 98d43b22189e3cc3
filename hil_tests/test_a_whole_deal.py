"""Scenarios of deals without faults, from the start to four hands of 27 and a public proof."""

from collections import Counter

from controller.cards import FACE_COUNT
from controller.messages import AttemptOutcome, MachinePhase
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import ScenarioTable

IN_A_ROW = 3


async def play_whole_deal(table: ScenarioTable) -> None:
    """Play one deal from its start to its complete public proof, and measure the times."""
    begun_s = table.now_s
    held = await table.deal_to_held()
    table.measure("start_to_held_s", table.now_s - begun_s)
    proof = held.fairness[-1]
    assert (proof.outcome, proof.reveal) == (AttemptOutcome.OK, None)
    assert held.machine.fed == table.profile.deck.cards
    released_s = table.now_s
    await table.release_and_take()
    counted = await table.hands.count_hands()
    assert counted == (table.profile.hand,) * 4, f"the players count {counted}"
    shown = await table.return_set()
    table.measure("release_to_reveal_s", table.now_s - released_s)
    proof = shown.fairness[-1]
    assert proof.reveal is not None
    assert (proof.outcome, proof.reveal.cut) == (AttemptOutcome.OK, proof.cut)


async def test_a_whole_deal_gives_four_hands_of_27_and_its_proof(table: ScenarioTable) -> None:
    await play_whole_deal(table)
    numbers = await table.daemon.read_counters()
    table.measure("misreads", numbers.get("misreads", 0))
    table.measure("double_feeds", numbers.get("double_feeds", 0))


async def test_deals_in_a_row_are_each_right(table: ScenarioTable) -> None:
    before = table.state.counters.deals
    for _ in range(IN_A_ROW):
        await play_whole_deal(table)
    assert table.state.counters.deals == before + IN_A_ROW
    assert len({proof.commitment for proof in table.state.fairness}) == len(table.state.fairness)


async def test_cards_are_dealt_at_the_pace_of_the_machine(table: ScenarioTable) -> None:
    number = await table.start_and_cut()
    await table.until(lambda state: state.machine.fed > 0, "the first card")
    first_s, fed = table.now_s, table.state.machine.fed
    state = await table.wait_for_verdict(number)
    assert state.machine.phase is MachinePhase.HELD
    dealt = table.profile.deck.cards - fed
    table.measure("cards_per_s", dealt / max(table.now_s - first_s, 0.001))


@needs("truth")
async def test_the_hands_that_are_held_are_the_whole_set_in_the_pockets(
    table: ScenarioTable,
) -> None:
    held = await table.deal_to_held()
    truth = await table.hands.read_truth()
    pockets = [[card["face"] for card in pocket] for pocket in truth["pockets"]]
    assert [len(pocket) for pocket in pockets] == [table.profile.hand] * 4 + [0]
    faces = Counter(face for pocket in pockets for face in pocket)
    whole_set = table.profile.deck.composition()
    assert tuple(faces[face] for face in range(FACE_COUNT)) == whole_set
    assert held.machine.landed is not None
    assert held.machine.landed.tray == 0


@needs("buttons")
async def test_the_start_button_starts_a_deal(table: ScenarioTable) -> None:
    before = [proof.attempt for proof in table.state.fairness]
    await table.tap("start")
    state = await table.wait_for_phase(MachinePhase.COMMITTED)
    assert state.machine.attempt not in before

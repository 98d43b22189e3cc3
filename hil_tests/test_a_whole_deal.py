"""A deal as it should be: four hands of 27, held, released, played and proved."""

from collections import Counter

from controller.cards import FACES
from controller.messages import Outcome, Phase
from hil_tests.features import needs
from hil_tests.table import Table

IN_A_ROW = 3


async def whole(table: Table) -> None:
    """Play one deal from the start to its open proof, and measure it."""
    begun_s = table.now_s
    held = await table.held()
    table.measure("start_to_held_s", table.now_s - begun_s)
    proof = held.fairness[-1]
    assert (proof.outcome, proof.reveal) == (Outcome.OK, None)
    assert held.machine.fed == table.profile.deck.cards
    released_s = table.now_s
    await table.taken()
    counted = await table.hands.counted()
    assert counted == (table.profile.hand,) * 4, f"the players count {counted}"
    shown = await table.put_back()
    table.measure("release_to_reveal_s", table.now_s - released_s)
    proof = shown.fairness[-1]
    assert proof.reveal is not None
    assert (proof.outcome, proof.reveal.cut) == (Outcome.OK, proof.cut)


async def test_a_whole_deal_gives_four_hands_of_27_and_its_proof(table: Table) -> None:
    await whole(table)
    numbers = await table.program.numbers()
    table.measure("misreads", numbers.get("misreads", 0))
    table.measure("double_feeds", numbers.get("double_feeds", 0))


async def test_deals_in_a_row_are_each_right(table: Table) -> None:
    before = table.state.counters.deals
    for _ in range(IN_A_ROW):
        await whole(table)
    assert table.state.counters.deals == before + IN_A_ROW
    assert len({proof.commitment for proof in table.state.fairness}) == len(table.state.fairness)


async def test_cards_are_dealt_at_the_pace_of_the_machine(table: Table) -> None:
    number = await table.started()
    await table.until(lambda state: state.machine.fed > 0, "the first card")
    first_s, fed = table.now_s, table.state.machine.fed
    state = await table.verdict(number)
    assert state.machine.phase is Phase.HELD
    dealt = table.profile.deck.cards - fed
    table.measure("cards_per_s", dealt / max(table.now_s - first_s, 0.001))


@needs("truth")
async def test_the_hands_that_are_held_are_the_whole_set_in_the_pockets(table: Table) -> None:
    held = await table.held()
    truth = await table.hands.truth()
    pockets = [[card["face"] for card in pocket] for pocket in truth["pockets"]]
    assert [len(pocket) for pocket in pockets] == [table.profile.hand] * 4 + [0]
    faces = Counter(face for pocket in pockets for face in pocket)
    whole_set = table.profile.deck.composition()
    assert tuple(faces[face] for face in range(FACES)) == whole_set
    assert held.machine.landed is not None
    assert held.machine.landed.tray == 0


@needs("buttons")
async def test_the_start_button_starts_a_deal(table: Table) -> None:
    before = [proof.attempt for proof in table.state.fairness]
    await table.tap("start")
    state = await table.phase(Phase.COMMITTED)
    assert state.machine.attempt not in before

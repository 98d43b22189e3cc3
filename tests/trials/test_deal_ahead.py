"""Deal-ahead: the next deal is dealt with the other set while this one is played."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from controller.cards import composition
from controller.config import CardSetSection
from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import AttemptOutcome, PublicEvent, PublicState
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings
from sim.mechanics.truth import Truth
from sim.tables.table_in_process import TableInProcess, run_table_in_process
from tests.simulated_players import PlayerDurations, PlayerMistakes, SimulatedPlayers

pytestmark = pytest.mark.slow

TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
BACK_OF = {one.id: BACKS[one.back] for one in TWO_SETS}
WHOLE = [face for face, n in enumerate(composition(2, jokers=True)) for _ in range(n)]

WORN = (
    SimulatedFault("jam", rate=1e-4),
    SimulatedFault("double_feed", rate=5e-4),
    SimulatedFault("wrong_pocket", rate=1e-4),
    SimulatedFault("unreadable", rate=1e-3),
    SimulatedFault("face_up", rate=1e-4),
    SimulatedFault("missing_card", rate=0.02),
    SimulatedFault("foreign_back", rate=0.02),
    SimulatedFault("left_in_pocket", rate=0.02),
)
"""What goes wrong now and then, out of the simulated machine's menu."""

DEALS_A_MATCH = 9


@dataclass
class Judge:
    """Holds what the table says of each release against where the cards are."""

    trial: TableInProcess
    releases: list[tuple[str | None, int | None, int | None, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def hands(self, state: PublicState, truth: Truth) -> None:
        """Look at the hands as they come up."""
        match, machine = state.match, state.machine
        known = self.trial.machine.record.state
        cards = sum(truth.pockets[:4], ())
        released = (known.match, known.deal, known.attempt)
        committed = next(
            event
            for event in reversed(self.trial.events)
            if event.kind == "committed" and event.attempt == machine.attempt
        )
        card_set = committed.data["set"]
        book = self.trial.machine.table_boards.hands_with_players.run
        self._holds(released[:2] == (match.match, match.deal), f"{released}, match {match.deal}")
        self._holds(
            (committed.data["match"], committed.deal) == (match.match, match.deal),
            f"committed for {committed.data['match']} {committed.deal}",
        )
        self._holds({card.back for card in cards} == {BACK_OF[card_set]}, f"backs in {card_set}")
        self._holds(sorted(card.face for card in cards) == WHOLE, f"no whole set {card_set}")
        self._holds(list(map(len, truth.pockets)) == [27, 27, 27, 27, 0], "not 27 each")
        self._holds(book is None or book.number == machine.attempt, "hands of another attempt")
        self._holds(not any(truth.hands), "hands come up while others are held")
        self.releases.append((match.match, match.deal, machine.attempt, card_set))

    def _holds(self, right: bool, what: str) -> None:
        if not right:
            self.wrong.append(f"release {len(self.releases) + 1}: {what}")


def ended_otherwise(events: list[PublicEvent]) -> dict[int | None, list[str]]:
    """Return the attempts that gave no hands to play with, and why."""
    found = {}
    for event in events:
        bad = event.kind == "verdict" and event.data["outcome"] != AttemptOutcome.OK
        if bad or event.kind in ("withdrawn", "recalled"):
            found[event.attempt] = event.data["reasons"]
    return found


def unopened(events: list[PublicEvent]) -> set[int | None]:
    """Return the attempts without hands whose record was not opened."""
    opened = {event.attempt for event in events if event.kind == "record"}
    return set(ended_otherwise(events)) - opened


@pytest.mark.virtual
async def test_sets_alternate_over_many_deals_and_redeals_and_are_never_mixed_up(
    runtime_dir: Path,
    tmp_path: Path,
    scale: Callable[[int], int],
    record_property: Callable[[str, object], None],
) -> None:
    deals, seed = max(6, scale(200)), 11
    chance = random.Random(seed)
    store, settings = JournalStore.open(tmp_path), MechanicsSettings(faults=WORN)
    async with run_table_in_process(
        settings, runtime_dir, seed=seed, store=store, card_sets=TWO_SETS, deal_ahead=True
    ) as table:
        judge = Judge(table)
        people = SimulatedPlayers(
            table,
            chance,
            deal_ahead=True,
            durations=PlayerDurations(play=(5, 90), count=(5, 20)),
            mistakes=PlayerMistakes(claims=0.08, redeals=0.05, mixed=0.05),
            on_hands=judge.hands,
        )
        played = number = 0
        while played < deals:
            number += 1
            await people.begin_match(f"M{number}")
            played += await people.play(min(DEALS_A_MATCH, deals - played))
            await people.sign()
        events = list(table.events)
    assert judge.wrong == []
    assert len(judge.releases) >= deals
    assert unopened(events) == set()
    assert verify(tmp_path).findings == []
    ends = Counter(reason for reasons in ended_otherwise(events).values() for reason in reasons)
    told = f"{played} deals, {number} matches, {len(judge.releases)} releases; {dict(ends)}"
    record_property("deals", told)


@pytest.mark.virtual
@pytest.mark.parametrize("ahead", [True, False])
async def test_with_deal_ahead_nobody_waits_for_the_machine(
    ahead: bool,
    runtime_dir: Path,
    scale: Callable[[int], int],
    record_property: Callable[[str, object], None],
) -> None:
    left = deals = max(3, scale(100))
    async with run_table_in_process(
        MechanicsSettings(), runtime_dir, seed=1, card_sets=TWO_SETS, deal_ahead=ahead
    ) as table:
        people = SimulatedPlayers(
            table, random.Random(1), deal_ahead=ahead, durations=PlayerDurations()
        )
        while left > 0:
            await people.begin_match(f"M{left}")
            left -= await people.play(left + 1) - 1
            await people.sign()
        released = [event for event in table.events if event.kind == "released"]
    # The first deal of a match has no deal before it.
    waits_s = [event.data["due_to_ready_ms"] / 1000 for event in released if event.deal != 1]
    record_property("waiting", f"{sorted(waits_s)}")
    assert len(waits_s) >= deals
    if ahead:
        assert max(waits_s) == 0
    else:
        assert min(waits_s) > 14  # two shuffles, and 108 cards at ten a second

"""What no verifier can see, and who can see it all the same."""

from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from controller.deal.sequence import sequence
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.verify.sources import read_source
from controller.machine.panel_control import STEP_INTERVAL_S
from controller.messages import AttemptOutcome, PublicState
from controller.seats import SEATS
from sim.tables.table_in_process import TableInProcess
from tests.cheats.cards import HidesAll, HidesInProof, RoutesElsewhere
from tests.cheats.changed import BOOK, COUNTER, DEALING, WIRE_LOG, Evening, said, spend
from tests.cheats.cuts import DwellingCounter, GroundByTheDisplay
from tests.cheats.evenings import BY_PRESS, CUT, dealt

pytestmark = [pytest.mark.virtual, pytest.mark.slow]


async def test_a_card_that_went_elsewhere_unseen_is_known_to_whose_hand_it_was_in(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[list[list[int]]] = []

    async def people(at: TableInProcess) -> None:
        for _ in range(2):
            assert (await dealt(at)).fairness[-1].outcome is AttemptOutcome.OK
            truth = at.sim.world.truth()
            held.append([sorted(truth.faces_in(pocket)) for pocket in range(len(SEATS))])
            await at.return_hands()

    evening = Evening(name="two deals, whose players note their hands", people=people)
    lying = {DEALING: RoutesElsewhere, WIRE_LOG: HidesAll, BOOK: HidesInProof}
    left = await spend(evening, lying, tmp_path, runtime_dir, monkeypatch)
    assert (said(left.journal()), said(left.feed())) == ("", "")
    told = [
        _told(one)
        for one in attempt_histories(c.entry for c in read_source(tmp_path).entries).values()
    ]
    assert held[0] == told[0]
    wrong = [
        seat for seat, own, said_of in zip(SEATS, held[1], told[1], strict=True) if own != said_of
    ]
    assert len(wrong) == 2
    assert "N" in wrong


async def test_a_display_that_dwells_on_a_number_is_seen_to_stand_still(
    tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lying = {BOOK: GroundByTheDisplay, COUNTER: DwellingCounter}
    left = await spend(BY_PRESS, lying, tmp_path, runtime_dir, monkeypatch)
    cuts = [event.data["cut"] for event in left.events if event.kind == "cut"]
    assert GroundByTheDisplay.wanted == cuts[-1]
    assert (said(left.journal()), said(left.feed())) == ("", "")
    stood = [_stood(left.states, number) for number in (CUT, GroundByTheDisplay.wanted)]
    assert stood[0] <= 2 * STEP_INTERVAL_S
    assert stood[1] > 10 * STEP_INTERVAL_S


def _stood(states: list[PublicState], number: int | None) -> float:
    """Return how long the display stood on a number at most, in seconds, as a console saw it."""
    longest = since = 0.0
    for earlier, later in pairwise(states):
        same = earlier.machine.counter == number
        since = since + _s(later.time) - _s(earlier.time) if same else 0.0
        longest = max(longest, since)
    return longest


def _s(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def _told(progress: AttemptHistory) -> list[list[int]]:
    """Return the four hands that an opened record gives, by the sequence."""
    committed, revealed = progress.data("committed"), progress.data("revealed")
    record = progress.data("record")
    assert committed is not None
    assert revealed is not None
    assert record is not None
    faces = bytes.fromhex(record["hands"])
    letters = sequence(
        bytes.fromhex(committed["commitment"]),
        bytes.fromhex(revealed["seed"]),
        revealed["cut"],
        len(faces),
    )
    return [
        sorted(face for face, letter in zip(faces, letters, strict=True) if letter == seat)
        for seat in SEATS
    ]

"""Deals of a whole simulated table, with firmware, mechanics, machine process and journal.

`deal_life` runs one simulated life of a worn machine, with a journal. All deals come from this
journal alone. The chief's key decrypts the attempts: seed, record of the hands, and board
events.
"""

import base64
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from controller.deal.sequence import SEED_BYTES
from controller.deal.sequence import sequence as drawn
from controller.journal.attempt_history import AttemptHistory, attempt_histories
from controller.journal.packed_board_events import unpack_events
from controller.journal.verify.card_course import SEATS, TRAY, trace_course
from controller.journal.verify.sources import read_source
from controller.messages import AttemptOutcome
from controller.vault.sealing import AttemptKey, unseal_with
from sim.campaign.campaign_lives import plan_life
from sim.campaign.life import run_life
from sim.campaign.table_host import chief_key
from sim.lab.collected_deals import (
    CARDS,
    CollectedDeals,
    DealsSource,
    ReadingOutcome,
    make_deals,
    number_cards,
)
from sim.lab.deal_chain import Entropy
from sim.mechanics.fault_menu import WearLevel, get_wear_level

WEAR = "worn"
"""The wear level of the machine. Cards are read again, go to the tray, or arrive as two."""

_IN_MEMORY = Path("/dev/shm")
_NONCE = 32


class AttemptByPlace(NamedTuple):
    """The faces, pockets and reading outcomes of one attempt, listed by place of the sequence.

    `waiting`: the pockets in which the cards were due. `seats`: the pockets that they reached.
    """

    faces: list[int]
    waiting: list[int]
    seats: list[int]
    verdicts: list[int]
    card_set: str
    passes: int


def deal_life(deals: int, entropy: Entropy, faults: WearLevel | None = None) -> CollectedDeals:
    """Run a simulated table for `deals` deals, and return the successful attempts of its journal.

    `faults`: the faults of the machine, or those of WEAR if None. No journal contains the stack
    before a shuffle, so the result has no stack. Raises ValueError if the life has a finding or
    fewer deals, or if an attempt's record does not open.
    """
    seed = entropy(SEED_BYTES).hex()
    with tempfile.TemporaryDirectory(prefix="dl-", dir=_IN_MEMORY) as folder:
        report = run_life(plan_life(seed, deals, faults or get_wear_level(WEAR), Path(folder)))
        if report.findings:
            raise ValueError(str(report.findings[0]))
        entries = [chained.entry for chained in read_source(Path(folder) / seed).entries]
    progresses, chief = attempt_histories(entries).values(), chief_key(seed)
    right = [one for one in progresses if one.outcome is AttemptOutcome.OK]
    opened = [open_attempt(one, _make_unsealer(one, chief)) for one in right][:deals]
    if len(opened) < deals:
        raise ValueError(f"{len(opened)} of {deals} deals came to held hands")
    given_up, passes = len(progresses) - len(right), max(one.passes for one in opened)
    source = DealsSource(path="full", asked=deals, given_up=given_up, passes=passes)
    return make_deals(
        number_cards([one.faces for one in opened]),
        [one.waiting for one in opened],
        [one.seats for one in opened],
        [one.verdicts for one in opened],
        follows=_follows(opened),
        source=source,
    )


def open_attempt(progress: AttemptHistory, unseal: Callable[[bytes], bytes]) -> AttemptByPlace:
    """Return a successful attempt's faces, pockets and reading outcomes, decrypted by `unseal`."""
    committed, cut = progress.data("committed"), progress.data("cut") or {"cut": None}
    assert committed is not None
    seed = unseal(_sealed_bytes(progress, "seed", "box"))
    letters = drawn(bytes.fromhex(committed["commitment"]), seed, cut["cut"], CARDS)
    record = unseal(_sealed_bytes(progress, "hands_box", "box"))[_NONCE:]
    events = [
        event
        for row in progress.wire_entries
        for event in unpack_events(row.data, row.attempt, unseal)
    ]
    seen = trace_course(events, CARDS)
    placed = seen.cards_by_place()
    said = [int(ReadingOutcome.ACCEPTED)] * CARDS
    for place, card in seen.cards_by_place().items():
        rounds = sum(one.landed == TRAY and one.place == place for one in seen.cards.values())
        # the second card of a doubled pair waited under the index of another card
        if rounds or card.from_tray:
            said[place - 1] = ReadingOutcome.TRAY if rounds < 2 else ReadingOutcome.TRAY_TWICE
        elif len(seen.looks.get(card.index, [])) > 1:
            said[place - 1] = ReadingOutcome.READ_AGAIN
    return AttemptByPlace(
        faces=list(record),
        waiting=[SEATS.index(letter) for letter in letters],
        seats=[SEATS.index(str(placed[place].landed)) for place in range(1, CARDS + 1)],
        verdicts=said,
        card_set=committed["set"],
        passes=committed["passes"],
    )


def _follows(opened: list[AttemptByPlace]) -> list[bool]:
    """Return for each attempt True if the attempt before used the same set, else False."""
    return [False, *(before.card_set == now.card_set for before, now in pairwise(opened))]


def _make_unsealer(progress: AttemptHistory, chief: Any) -> Callable[[bytes], bytes]:
    raw = unseal_with(bytes(chief), _sealed_bytes(progress, "seed", "for_chief"))
    return AttemptKey(raw, _refuse_sealing).unseal


def _refuse_sealing(_: int) -> bytes:
    raise AssertionError("nothing is closed here")


def _sealed_bytes(progress: AttemptHistory, kind: str, field: str) -> bytes:
    return base64.b64decode((progress.data(kind) or {}).get(field, ""))

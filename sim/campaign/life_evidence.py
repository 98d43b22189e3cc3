"""The evidence for the judgement of a simulated table (a life): card positions and journal.

Card positions are recorded at the moment at which they matter: each count and each release.
Commitments are read from the journal at the end, when the journal is complete. Seeds that were lost
with the power are opened with the chief's key.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from nacl.secret import SecretBox

from controller.journal.entries import JournalEntry, decode
from controller.journal.packed_board_events import LoggedBoardEvent, unpack_events
from controller.journal.store import STORE_NAME, open_read_only
from controller.journal.verify import verify
from controller.vault.sealing import unseal_with
from sim.campaign import life_judge
from sim.campaign.attempt_log import AttemptLog, AttemptNotes
from sim.campaign.campaign_lives import FindingKind
from sim.campaign.ground_truth import CardTracker, Passage
from sim.campaign.table_host import TableHost
from sim.mechanics.truth import Truth

_NONCE = 32
_LEAD_FIELDS = ("turned_up", "leader")


ReportFinding = Callable[[FindingKind, str, int | None], None]
"""A function that records a finding of an attempt. None means the newest attempt."""


class CardSnapshot(NamedTuple):
    """The card positions at one moment of an attempt, and the paths (passages) of its cards.

    `when` is "held" for the verdict and "out" for the rise of the lift.
    """

    attempt: int
    when: str
    truth: Truth
    passages: tuple[Passage, ...]
    has_unseen_fault: bool


class LifeEvidence:
    """The evidence about one simulated table (a life). It is judged after the table has ended.

    `left_behind`: the number of times that an extra card was undetected in the machine while the
    hands were right.
    """

    def __init__(
        self, host: TableHost, tracker: CardTracker, attempts: AttemptLog, report: ReportFinding
    ) -> None:
        self._host, self._tracker, self._attempts = host, tracker, attempts
        self._report = report
        self._snapshots: list[CardSnapshot] = []
        self.left_behind = 0
        self._cards = host.profile.deck.cards
        self._turned_again = host.profile.turnup.faces()
        host.sim.world.dealer.observe(self._on_lift, ["lift"])

    def record_verdict(self, notes: AttemptNotes) -> None:
        """If the verdict of the attempt `notes` is "ok", record the positions of the cards.

        The pockets must then contain right hands.
        """
        if notes.outcome == "ok":
            self._take_snapshot(notes, "held")

    def judge_life(self) -> None:
        """Report each error of the simulated table (life). Its journal must be closed before."""
        with open_read_only(self._host.state_dir / STORE_NAME) as rows:
            entries = [decode(row.body) for row in rows]
        for look in self._snapshots:
            self._judge_snapshot(look, entries)
        self._judge_order(entries)
        self._judge_events(entries)
        for finding in verify(self._host.state_dir).findings:
            self._report("unproved", str(finding), None)

    def _on_lift(self, name: str, value: int) -> None:
        """Record the positions of the cards if the lift is up (`value` is 1) and has raised cards.

        If the current attempt does not have the verdict "ok", report an error instead.
        """
        world = self._host.sim.world
        if not value or not any(world.pockets.stacks[:4]):
            return
        notes = self._attempts.current
        if notes is None or notes.outcome != "ok":
            words = "the lift came up with cards and without a verdict"
            self._report("wrong_released", words, None)
        elif (notes.attempt, "out") not in {(look.attempt, look.when) for look in self._snapshots}:
            self._take_snapshot(notes, "out")

    def _take_snapshot(self, notes: AttemptNotes, when: str) -> None:
        passages = tuple(replace(one) for one in self._tracker.passages(notes.first_passage))
        truth = self._host.sim.world.truth()
        unseen = any(fault.name in life_judge.UNSEEN_FAULTS for fault in notes.active_faults)
        self._snapshots.append(CardSnapshot(notes.attempt, when, truth, passages, unseen))

    def _judge_snapshot(self, look: CardSnapshot, entries: list[JournalEntry]) -> None:
        of = {entry.kind: entry for entry in entries if entry.attempt == look.attempt}
        key = _attempt_key(of["seed"], self._host)
        promise, lies = _read_promise(of, key), (look.passages, look.truth)
        released = of["released"].data if "released" in of else {}
        told: dict[str, str] = {name: released[name] for name in _LEAD_FIELDS if name in released}
        wrong = [
            *life_judge.find_wrong_cards(look.truth, self._host.judged_sets[promise.card_set]),
            *life_judge.find_wrong_places(*lies, promise, self._cards),
            *life_judge.find_wrong_turned_up(told, lies, promise, self._cards, self._turned_again),
        ]
        left = list(life_judge.find_left_behind(look.truth))
        if left and not wrong and look.has_unseen_fault:
            self.left_behind += look.when == "held"
        else:
            wrong += left
        if wrong:
            self._report("wrong_released", f"{look.when}: {'; '.join(wrong[:4])}", look.attempt)
        opened = key.decrypt(_box(of["hands_box"], "box"))
        inside = opened[:_NONCE], opened[_NONCE:]
        bound: str = of["held"].data["hands"]
        for words in life_judge.find_wrong_hands(bound, inside, lies, promise, self._cards):
            self._report("unproved", f"{look.when}: {words}", look.attempt)

    def _judge_order(self, entries: list[JournalEntry]) -> None:
        """Report each attempt that fed a card before commitment, cut and shuffle were public."""
        first = {}
        for notes in reversed(self._attempts.notes):
            for passage in self._tracker.passages(notes.first_passage)[:1]:
                first[notes.attempt] = passage.window_s
        for notes, after in zip_longest(self._attempts.notes, self._attempts.notes[1:]):
            fed_s = first.get(notes.attempt)
            if fed_s is None or (after is not None and after.first_passage == notes.first_passage):
                continue
            late = [
                step
                for step in ("committed", "cut", "shuffled")
                if notes.published_s.get(step, fed_s) >= fed_s
            ]
            if late:
                words = f"a card moved before {', '.join(late)} was on the feed"
                self._report("wrong_released", words, notes.attempt)

    def _judge_events(self, entries: list[JournalEntry]) -> None:
        boots, journal = self._host.sim.board_runs, list(_read_board_events(entries, self._host))
        feeds = [(feed.numbers, feed.last_written) for feed in self._host.feeds]
        public = [entry.n for entry in entries if entry.public]
        lost = [*life_judge.find_lost_events(boots, journal)]
        lost += life_judge.find_lost_public(public, feeds)
        doubled = [*life_judge.find_doubled_events(boots, journal)]
        doubled += life_judge.find_doubled_public(feeds)
        for words in lost:
            self._report("events_lost", words, None)
        for words in doubled:
            self._report("events_doubled", words, None)


def _read_board_events(
    entries: Iterable[JournalEntry], host: TableHost
) -> Iterator[LoggedBoardEvent]:
    """Yield the board events in `entries`, decrypted with the chief's key of the table `host`."""
    unseal: dict[int | None, Callable[[bytes], bytes]] = {}
    for entry in entries:
        if entry.kind == "seed":
            unseal[entry.attempt] = _attempt_key(entry, host).decrypt
        elif entry.kind == "wire":
            yield from unpack_events(entry.data, entry.attempt, unseal.get(entry.attempt))


def _read_promise(of: Mapping[str, JournalEntry], key: SecretBox) -> life_judge.DealPromise:
    """Return the commitment, seed and cut of one attempt from `of`, the attempt's entries by kind.

    A seed that was not revealed is decrypted with `key`.
    """
    committed, revealed = of["committed"], of.get("revealed")
    shown = {"cut": of["cut"].data["cut"]} if revealed is None else revealed.data
    seed = key.decrypt(_box(of["seed"], "box")).hex() if revealed is None else shown["seed"]
    assert committed.deal is not None
    assert committed.attempt is not None
    return life_judge.DealPromise(
        table_key=committed.data["table_key"],
        match=committed.data["match"],
        deal=committed.deal,
        attempt=committed.attempt,
        profile_hash=committed.data["profile_hash"],
        card_set=committed.data["set"],
        commitment=committed.data["commitment"],
        seed=bytes.fromhex(seed),
        cut=shown["cut"],
    )


def _attempt_key(seed: JournalEntry, host: TableHost) -> SecretBox:
    """Return the attempt's key, decrypted with the chief's key from the journal entry `seed`."""
    return SecretBox(unseal_with(bytes(host.chief), _box(seed, "for_chief")))


def _box(entry: JournalEntry, name: str) -> bytes:
    return base64.b64decode(entry.data[name])

"""The writer of one attempt's journal entries. It also has the attempt's seed, key and vault.

The order of the entries is that of PROOF.md, and `verify` checks it. The caller writes a step,
syncs, and only then takes the next step.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from controller.cards import face_text
from controller.deal import sequence as fair
from controller.deal.ledger import Ledger
from controller.journal.attempt_history import AttemptHistory
from controller.journal.packed_board_events import BoardEventFields, pack_course, pack_opened
from controller.machine.table_record import TableRecord
from controller.messages import AttemptOutcome
from controller.rules.profile import BigTwoProfile, Profile
from controller.rules.regulations_page import profile_hash
from controller.vault.dealt_hands import seat_with
from controller.vault.sealing import AttemptKey, AttemptKeyFiles, seal_to
from controller.vault.vault import Vault
from drivers.board_events import Back

LeadRule = Literal["turn_up", "holder", "none"]
"""How a release names the leader: by a turned-up card, by the holder of the leading card (Big Two),
or not at all.
"""


@dataclass(frozen=True)
class AttemptBinding:
    """The parts of a table that an attempt's writer uses: journal, keys, rulebook, random numbers.

    `chief_key` returns the public key that attempt keys are sealed to now, or None if no chief is
    admitted. `entropy` returns the given number of random bytes.
    """

    record: TableRecord
    key_files: AttemptKeyFiles
    chief_key: Callable[[], bytes | None]
    profile: Profile
    table_key: str
    entropy: Callable[[int], bytes]

    @cached_property
    def profile_hash(self) -> bytes:
        """Return the hash of the rulebook, which is part of every commitment."""
        return profile_hash(self.profile)


@dataclass(frozen=True)
class AttemptPlan:
    """The plan of one attempt: its match, deal, number, set of cards, and shuffler passes.

    `card_set` is the set's id, `back` its back, and `passes` the number of shuffler passes.
    """

    match_id: str
    deal: int
    number: int
    card_set: str
    back: Literal["A", "B"]
    passes: int


class AttemptWriter:
    """The writer of one attempt's journal entries.

    `key` seals secret data in them, and `seed` and cut decide the sequence. `vault` holds the faces
    of this attempt until `close`. If the key was lost with the power, there are no faces, and
    nothing can be opened. A step that the journal already contains is not written again.
    """

    def __init__(
        self,
        bound_to: AttemptBinding,
        plan: AttemptPlan,
        key: AttemptKey | None,
        seed: bytes,
        chief: bytes = b"",
    ) -> None:
        self.plan = plan
        self.deal = plan.deal
        self.number = plan.number
        self.cut: int | None = None
        self.vault = Vault(bound_to.profile.deck.composition(), Back[plan.back])
        self._binding = bound_to
        self._key = key
        self._seed = seed
        self._chief = chief
        self._nonce = b""
        self._written_data: dict[str, dict[str, Any]] = {}
        self._profile_hash = bound_to.profile_hash
        of = (bound_to.table_key, plan.match_id, plan.deal, plan.number)
        context = fair.context(*of, self._profile_hash, plan.card_set)
        self._commitment = fair.commitment(context, seed)

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        """Return a writer for a new attempt, with a new seed and a new key.

        The owner of the public key `chief` can open the new key too.
        """
        key = AttemptKey.new(bound_to.entropy)
        return cls(bound_to, plan, key, bound_to.entropy(fair.SEED_BYTES), chief)

    @classmethod
    def restore(
        cls, bound_to: AttemptBinding, progress: AttemptHistory, key: AttemptKey | None
    ) -> Self:
        """Return a writer for an attempt that an earlier run of the daemon did not finish.

        The vault gets its bound hands back. Raises UnsealError, and KeyError for an attempt without
        a commitment.
        """
        written = {kind: entry.data for kind, entry in progress.steps.items()}
        committed = written["committed"]
        assert progress.deal is not None
        plan = AttemptPlan(
            match_id=committed["match"],
            deal=progress.deal,
            number=progress.attempt,
            card_set=committed["set"],
            back=committed["back"],
            passes=committed["passes"],
        )
        seed = b"" if key is None else key.unseal(base64.b64decode(written["seed"]["box"]))
        book = cls(bound_to, plan, key, seed)
        book._written_data = written
        book._commitment = bytes.fromhex(committed["commitment"])
        book.cut = written.get("cut", {}).get("cut")
        book.vault.begin(progress.attempt)
        box = written.get("hands_box")
        if key is not None and box is not None:
            plain = key.unseal(base64.b64decode(box["box"]))
            book._nonce = plain[: fair.NONCE_BYTES]
            book.vault.restore_hands(progress.attempt, plain[fair.NONCE_BYTES :])
        return book

    @property
    def sequence(self) -> str:
        """Return the fair sequence: one pocket letter for each place, from the first place on.

        The cut must be known. Raises ValueError if the seed was lost with the power.
        """
        if self.is_key_lost:
            raise ValueError(f"the seed of attempt {self.number} went with the power")
        cards = self._binding.profile.deck.cards
        return fair.sequence(self._commitment, self._seed, self.cut, cards)

    @property
    def is_key_lost(self) -> bool:
        """Return whether a power failure destroyed the attempt's key. The chief has a copy."""
        return self._key is None

    @property
    def outcome(self) -> AttemptOutcome | None:
        """Return the outcome in the written verdict, or None if no verdict is written yet."""
        verdict = self._written_data.get("verdict")
        return None if verdict is None else AttemptOutcome(verdict["outcome"])

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons (fault names) why the attempt gave no hands, or () if it has none."""
        ends = (self._written_data.get(kind, {}) for kind in ("withdrawn", "verdict"))
        return next((tuple(end["reasons"]) for end in ends if end.get("reasons")), ())

    @property
    def is_held(self) -> bool:
        """Return whether the verdict is "ok" and the hands were not withdrawn afterwards."""
        return self.outcome is AttemptOutcome.OK and not self.has("withdrawn")

    def has(self, kind: str) -> bool:
        """Return whether the attempt has an entry of this kind."""
        return kind in self._written_data

    def seal(self, plain: bytes) -> bytes:
        """Return `plain`, encrypted so that only this attempt's key can decrypt it."""
        assert self._key is not None
        return self._key.seal(plain)

    def write_committed(self) -> None:
        """Store the key file, write the sealed seed, and publish the commitment.

        From now on the vault accepts faces.
        """
        to, plan, deck = self._binding, self.plan, self._binding.profile.deck
        self.vault.begin(self.number)
        assert self._key is not None
        to.key_files.write(self.number, self._key.raw)
        for_chief = seal_to(self._chief, self._key.raw, to.entropy)
        boxes = {"box": _to_base64(self.seal(self._seed)), "for_chief": _to_base64(for_chief)}
        self._write("seed", boxes, public=False)
        self._write(
            "committed",
            {
                "commitment": self._commitment.hex(),
                "table_key": to.table_key,
                "match": plan.match_id,
                "profile": to.profile.name,
                "profile_hash": self._profile_hash.hex(),
                "set": plan.card_set,
                "back": plan.back,
                "deck": {"packs": deck.packs, "jokers": deck.jokers, "cards": deck.cards},
                "passes": plan.passes,
            },
        )

    def write_cut(
        self, cut: int | None, reason: str | None = None, seat: str | None = None
    ) -> None:
        """Write the entry `cut`: the cut and the seat that cut, or the reason for no cut."""
        self.cut = cut
        said = {"reason": reason, "seat": seat}
        self._write("cut", {"cut": cut} | {name: word for name, word in said.items() if word})

    def write_begun(self) -> None:
        """Write that both boards began the attempt."""
        self._write("begun", {})

    def write_shuffled(self, passes: int) -> None:
        """Write that the shuffler finished after `passes` passes."""
        self._write("shuffled", {"passes": passes})

    def write_held(self, ledger: Ledger) -> None:
        """Write the entries for right hands: card counts, sealed hands, their hash, and verdict."""
        self._nonce = self._nonce or self._binding.entropy(fair.NONCE_BYTES)
        record = self.vault.bind_hands(ledger.places(), self._binding.profile.deck.cards)
        hands = fair.hands_commitment(self._commitment, self._nonce, record)
        self._write("dealt", {"fed": ledger.fed, "refed": ledger.refed})
        self._write("hands_box", {"box": _to_base64(self.seal(self._nonce + record))}, public=False)
        self._write("held", {"hands": hands.hex()})
        self._write_verdict(AttemptOutcome.OK, (), ledger)

    def write_failure(
        self, outcome: AttemptOutcome, reasons: Sequence[str], ledger: Ledger | None
    ) -> None:
        """Write the verdict of a failed attempt. For held hands, write `withdrawn` instead.

        Held hands have the verdict "ok" already, and an attempt has only one verdict.
        """
        if self.outcome is AttemptOutcome.OK:
            self._write("withdrawn", {"reasons": list(reasons)})
        else:
            self._write_verdict(outcome, reasons, ledger)

    def write_released(self, lead: LeadRule, waited: Mapping[str, int]) -> None:
        """Write that the hands were released, with the leader and the waiting times.

        `waited` has the waiting times in ms; `lead` names the leader. "turn_up": the turned-up
        card, and the seat that got it. "holder": the seat with the leading card, whose face is in
        the rulebook (seed 002 A7). "none": no leader.
        """
        self._write("released", {**_LEAD_WRITERS[lead](self), **waited})

    def write_recalled(self, reasons: Sequence[str]) -> None:
        """Write that released hands are recalled, with the reasons."""
        self._write("recalled", {"reasons": list(reasons)})

    def write_revealed(self, events: Sequence[BoardEventFields] = ()) -> None:
        """Publish the seed and the cut. For hands that were played, also publish the board events.

        Without the key, write that only the chief can open seed and cut. `events` are the board
        events of hands that were played. They are published without faces, so that people can
        compare the pockets of the cards. For an attempt without hands they are in the record that
        follows.
        """
        if self.is_key_lost:
            self._write("sealed_to_chief", {"reason": "POWER"})
            return
        course = {"course": pack_course(events)} if events else {}
        self._write("revealed", {"seed": self._seed.hex(), "cut": self.cut, **course})

    def build_record(
        self,
        events: Sequence[BoardEventFields],
        final_count: Mapping[str, Any],
        events_before_verdict: int | None = None,
    ) -> dict[str, Any]:
        """Return the data for the entry `record`: key, board events, hands and final count.

        `final_count` has the last sensor status, or is empty. `events_before_verdict` is the
        number of events before the verdict. The record contains the attempt's key, which hides
        nothing any more, so that every reader of the journal can open the attempt's rows. The
        record is empty if the key was lost with the power.
        """
        if self.is_key_lost:
            return {}
        hands = self.vault.hands
        assert self._key is not None
        record: dict[str, Any] = {
            "nonce": self._nonce.hex() or None,
            "hands": None if hands is None else hands.hex(),
            "events": pack_opened(events),
            "key": self._key.raw.hex(),
        }
        if final_count:
            record["settled"] = dict(final_count)
        if events_before_verdict is not None:
            record["counted"] = events_before_verdict
        return record

    def write_record(self, record: dict[str, Any]) -> None:
        """Publish `record` as the attempt's record. Do nothing if the attempt's key is lost."""
        if not self.is_key_lost:
            self._write("record", record)

    def close(self) -> None:
        """Delete the faces from the vault, and the key file unless it is needed later.

        The file stays if the hands were played and will be published later (released_hands.py).
        """
        self.vault.forget()
        played = self.has("released") and self.has("revealed")
        opened = self.has("record") or self.has("recalled") or self.is_key_lost
        if opened or not played or self._binding.profile.hands_opened == "never":
            self._binding.key_files.remove(self.number)

    def _write_verdict(
        self, outcome: AttemptOutcome, reasons: Sequence[str], ledger: Ledger | None
    ) -> None:
        seen = Ledger(expected=0) if ledger is None else ledger
        counts = {"landed": seen.count_landed(), "fed": seen.fed, "refed": seen.refed}
        self._write("verdict", {"outcome": outcome.value, "reasons": list(reasons), **counts})

    def _turn_up(self) -> dict[str, str]:
        profile = self._binding.profile
        draws = fair.turn_up_places(self._commitment, self._seed, self.cut, profile.deck.cards)
        place, face = self.vault.turn_up(draws, profile.turnup.faces())
        return {"turned_up": face_text(face), "leader": self.sequence[place - 1]}

    def _find_holder(self) -> dict[str, str]:
        profile = self._binding.profile
        assert isinstance(profile, BigTwoProfile)  # No other rulebook has a leading card.
        return {"leader": seat_with(self.vault, self.sequence, profile.bigtwo.lead.face())}

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        if self.has(kind):
            return
        self._written_data[kind] = data
        self._binding.record.write(kind, data, deal=self.deal, attempt=self.number, public=public)


_LEAD_WRITERS: dict[LeadRule, Callable[[AttemptWriter], dict[str, str]]] = {
    "turn_up": AttemptWriter._turn_up,
    "holder": AttemptWriter._find_holder,
    "none": lambda book: {},
}


def _to_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def opens_at_deal_end(when: str, *, practice: bool) -> bool:
    """Return whether the rule `when` publishes played hands at the end of their deal.

    `when` is the profile's `hands_opened`. A practice deal counts as a whole match.
    """
    return when == "deal_end" or (practice and when != "never")

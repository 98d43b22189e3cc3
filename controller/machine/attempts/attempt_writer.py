"""What an attempt leaves in the journal, step by step, and the secrets behind it.

The order of the entries is that of PROOF.md; `verify` holds a journal against it.
Who calls writes a step, syncs, and only then takes the next one.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

from controller.cards import face_text
from controller.deal import sequence as fair
from controller.deal.ledger import SEATS, TRAY, Ledger
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
"""How a release says who leads: by a card that is turned up, by whoever holds the card
that leads (Big Two), or not at all."""


@dataclass(frozen=True)
class AttemptBinding:
    """What every attempt of this table is bound to, and where its secrets lie.

    `chief` gives the public key that attempt keys are sealed to, as of now, and None while no
    chief is admitted; `entropy` that many fresh bytes.
    """

    record: TableRecord
    key_files: AttemptKeyFiles
    chief_key: Callable[[], bytes | None]
    profile: Profile
    table_key: str
    entropy: Callable[[int], bytes]

    @cached_property
    def profile_hash(self) -> bytes:
        """Return what every commitment names the profile by."""
        return profile_hash(self.profile)


@dataclass(frozen=True)
class AttemptPlan:
    """What an attempt is dealt for: attempt `number` of deal `deal` of a match.

    `card_set` is the set's id, `back` its back; `passes` is how often it is shuffled.
    """

    match_id: str
    deal: int
    number: int
    card_set: str
    back: Literal["A", "B"]
    passes: int


class AttemptWriter:
    """The entries of the attempt of a plan, closed with `key`, drawn from `seed`.

    `vault` holds its faces, and no other attempt's, until the book is closed. Without
    `key` (it went with the power) there are no faces, and nothing can be opened. A step
    that stands in the journal is not written again.
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
        self._commitment = fair.commitment(
            fair.context(
                bound_to.table_key,
                plan.match_id,
                plan.deal,
                plan.number,
                self._profile_hash,
                plan.card_set,
            ),
            self._seed,
        )

    @classmethod
    def new(cls, bound_to: AttemptBinding, plan: AttemptPlan, chief: bytes) -> Self:
        """Begin a book: with a fresh key, that `chief` can open too, and a fresh seed."""
        key = AttemptKey.new(bound_to.entropy)
        return cls(bound_to, plan, key, bound_to.entropy(fair.SEED_BYTES), chief)

    @classmethod
    def restore(
        cls, bound_to: AttemptBinding, progress: AttemptHistory, key: AttemptKey | None
    ) -> Self:
        """Take up the book where an earlier run of the daemon left it.

        The vault gets bound hands back. Raises CannotUnseal, KeyError for an attempt
        that was not committed to.
        """
        seed = b"" if key is None else key.unseal(_from_base64(progress.steps["seed"].data["box"]))
        book = cls(bound_to, _plan_of(progress), key, seed)
        book._written_data = {kind: entry.data for kind, entry in progress.steps.items()}
        book._commitment = bytes.fromhex(book._written_data["committed"]["commitment"])
        book.cut = book._written_data.get("cut", {}).get("cut")
        book.vault.begin(progress.attempt)
        box = book._written_data.get("hands_box")
        if key is not None and box is not None:
            plain = key.unseal(_from_base64(box["box"]))
            book._nonce = plain[: fair.NONCE_BYTES]
            book.vault.restore_hands(progress.attempt, plain[fair.NONCE_BYTES :])
        return book

    @property
    def sequence(self) -> str:
        """The pocket letter of every place, once the cut is known.

        Raises ValueError where the seed went with the power.
        """
        if self.is_key_lost:
            raise ValueError(f"the seed of attempt {self.number} went with the power")
        cards = self._binding.profile.deck.cards
        return fair.sequence(self._commitment, self._seed, self.cut, cards)

    @property
    def is_key_lost(self) -> bool:
        """Whether its key went with the power, so that only the chief can open it."""
        return self._key is None

    @property
    def outcome(self) -> AttemptOutcome | None:
        """What its verdict says; None before there is one."""
        verdict = self._written_data.get("verdict")
        return None if verdict is None else AttemptOutcome(verdict["outcome"])

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it gave no hands, as names of the fault catalogue."""
        ends = (self._written_data.get(kind, {}) for kind in ("withdrawn", "verdict"))
        return next((tuple(end["reasons"]) for end in ends if end.get("reasons")), ())

    @property
    def is_held(self) -> bool:
        """Whether right hands of this attempt lie in the machine, or lay there."""
        return self.outcome is AttemptOutcome.OK and not self.has("withdrawn")

    def has(self, kind: str) -> bool:
        """Tell whether an entry of this kind was written."""
        return kind in self._written_data

    def seal(self, plain: bytes) -> bytes:
        """Return `plain` in a box that only this attempt's key opens."""
        assert self._key is not None
        return self._key.seal(plain)

    def write_committed(self) -> None:
        """Write the seed, closed, and its commitment; from here on the vault takes faces in."""
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
        """Write the players' number and who cut, or why there is no number."""
        self.cut = cut
        said = {"reason": reason, "seat": seat}
        self._write("cut", {"cut": cut} | {name: word for name, word in said.items() if word})

    def write_begun(self) -> None:
        """Write that both boards began the attempt."""
        self._write("begun", {})

    def write_shuffled(self, passes: int) -> None:
        """Write that the shuffler is done."""
        self._write("shuffled", {"passes": passes})

    def write_held(self, ledger: Ledger) -> None:
        """Bind the hands and write that they are right."""
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
        """Write why there are no hands; hands that were held already are withdrawn."""
        if self.outcome is AttemptOutcome.OK:
            self._write("withdrawn", {"reasons": list(reasons)})
        else:
            self._write_verdict(outcome, reasons, ledger)

    def write_released(self, lead: LeadRule, waited: Mapping[str, int]) -> None:
        """Write that the hands are out, how long people `waited` (ms), and who leads (`lead`).

        "turn_up": the turned-up card, and the seat that got it. "holder": the seat that
        holds the card that leads, whose face is in the rulebook (seed 002 A7). "none": nothing.
        """
        self._write("released", {**_LEAD_WRITERS[lead](self), **waited})

    def write_recalled(self, reasons: Sequence[str]) -> None:
        """Write that hands which were out are dealt again, and why."""
        self._write("recalled", {"reasons": list(reasons)})

    def write_revealed(self, events: Sequence[BoardEventFields] = ()) -> None:
        """Write seed and cut; without the key, that the chief alone can open them.

        `events`: the boards' of hands that were played, so that anybody can compare where their
        cards went; of an attempt that gave none the record follows, and has them.
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
        """Return all that was seen of an attempt: its board events, its hands, the last look.

        `last_look` is what the sensors said at the end, where they were asked; `counted`, how
        many of the events came before the verdict was made up. With the attempt's key, which hides
        nothing more, so that anybody with the journal can open the rows. It is empty where that
        went with the power.
        """
        if self.is_key_lost:
            return {}
        hands = self.vault.hands
        record: dict[str, Any] = {
            "nonce": self._nonce.hex() or None,
            "hands": None if hands is None else hands.hex(),
        }
        record["events"] = pack_opened(events)
        assert self._key is not None
        record["key"] = self._key.raw.hex()
        if final_count:
            record["settled"] = dict(final_count)
        if events_before_verdict is not None:
            record["counted"] = events_before_verdict
        return record

    def write_record(self, record: dict[str, Any]) -> None:
        """Publish the record of an attempt, where it can be opened."""
        if not self.is_key_lost:
            self._write("record", record)

    def close(self) -> None:
        """Forget faces and key: the attempt is over.

        The key's file stays as long as hands that were played are not shown yet, where they
        will be (hands_kept.py).
        """
        self.vault.forget()
        if not self._keeps_key:
            self._binding.key_files.remove(self.number)

    @property
    def _keeps_key(self) -> bool:
        played = self.has("released") and self.has("revealed")
        opened = self.has("record") or self.has("recalled") or self.is_key_lost
        return played and not opened and self._binding.profile.hands_opened != "never"

    def _write_verdict(
        self, outcome: AttemptOutcome, reasons: Sequence[str], ledger: Ledger | None
    ) -> None:
        nothing = dict.fromkeys((*SEATS, TRAY), 0)
        self._write(
            "verdict",
            {
                "outcome": outcome.value,
                "reasons": list(reasons),
                "landed": nothing if ledger is None else ledger.count_landed(),
                "fed": 0 if ledger is None else ledger.fed,
                "refed": 0 if ledger is None else ledger.refed,
            },
        )

    def _turn_up(self) -> dict[str, str]:
        profile = self._binding.profile
        draws = fair.turn_up_places(self._commitment, self._seed, self.cut, profile.deck.cards)
        place, face = self.vault.turn_up(draws, profile.turnup.faces())
        return {"turned_up": face_text(face), "leader": self.sequence[place - 1]}

    def _find_holder(self) -> dict[str, str]:
        profile = self._binding.profile
        assert isinstance(profile, BigTwoProfile)  # no other rulebook has a card that leads
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


def _plan_of(progress: AttemptHistory) -> AttemptPlan:
    committed = progress.steps["committed"].data
    assert progress.deal is not None
    return AttemptPlan(
        match_id=committed["match"],
        deal=progress.deal,
        number=progress.attempt,
        card_set=committed["set"],
        back=committed["back"],
        passes=committed["passes"],
    )


def _to_base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _from_base64(text: str) -> bytes:
    return base64.b64decode(text)


def opens_at_deal_end(when: str, *, practice: bool) -> bool:
    """Tell whether hands are shown with their seed: a practice deal is a match of its own."""
    return when == "deal_end" or (practice and when != "never")

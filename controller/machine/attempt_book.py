"""What an attempt leaves in the journal, step by step, and the secrets behind it.

The order of the entries is that of PROOF.md; `verify` holds a journal against it.
Who calls writes a step, syncs, and only then takes the next one.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from controller.cards import face_text
from controller.deal import sequence as fair
from controller.deal.ledger import SEATS, TRAY, Ledger
from controller.journal.fold import Progress
from controller.journal.wire_group import BoardEvent, opened
from controller.machine.record import Record
from controller.messages import Outcome
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.vault.keyfile import KeyFile
from controller.vault.sealing import AttemptKey, seal_to
from controller.vault.vault import Vault


@dataclass(frozen=True)
class Bindings:
    """What every attempt of this table is bound to, and where its secrets lie.

    `chief` is the public key that attempt keys are sealed to; `entropy` gives that
    many fresh bytes.
    """

    record: Record
    vault: Vault
    key_file: KeyFile
    chief: bytes
    profile: Profile
    table_key: str
    match_id: str
    card_set: str
    back: str
    entropy: Callable[[int], bytes]

    @cached_property
    def profile_hash(self) -> bytes:
        """Return what every commitment names the profile by."""
        return profile_hash(self.profile)


class AttemptBook:
    """The entries of deal `deal`, attempt `number`, closed with `key`, drawn from `seed`."""

    def __init__(
        self, bound_to: Bindings, deal: int, number: int, key: AttemptKey, seed: bytes
    ) -> None:
        self.deal = deal
        self.number = number
        self.cut: int | None = None
        self._to = bound_to
        self._key = key
        self._seed = seed
        self._nonce = b""
        self._hashed = bound_to.profile_hash
        self._commitment = fair.commitment(
            fair.context(
                bound_to.table_key,
                bound_to.match_id,
                deal,
                number,
                self._hashed,
                bound_to.card_set,
            ),
            self._seed,
        )

    @classmethod
    def new(cls, bound_to: Bindings, deal: int, number: int) -> Self:
        """Begin a book: with a fresh key and a fresh seed."""
        key = AttemptKey.new(bound_to.entropy)
        return cls(bound_to, deal, number, key, bound_to.entropy(fair.SEED_BYTES))

    @classmethod
    def of_held(cls, bound_to: Bindings, progress: Progress, key: AttemptKey) -> Self:
        """Take up the book of held hands where an earlier run of the daemon left it.

        The vault gets its faces back. Raises CannotUnseal, KeyError for an attempt
        that was not held.
        """
        assert progress.deal is not None
        seed = key.unseal(_bytes(progress.steps["seed"].data["box"]))
        book = cls(bound_to, progress.deal, progress.attempt, key, seed)
        book.cut = progress.steps["cut"].data["cut"]
        plain = key.unseal(_bytes(progress.steps["hands_box"].data["box"]))
        book._nonce = plain[: fair.NONCE_BYTES]
        bound_to.vault.adopt(progress.attempt, plain[fair.NONCE_BYTES :])
        return book

    @property
    def sequence(self) -> str:
        """The pocket letter of every place, once the cut is known."""
        cards = self._to.profile.deck.cards
        return fair.sequence(self._commitment, self._seed, self.cut, cards)

    @property
    def held(self) -> bool:
        """Whether the hands of this attempt were bound."""
        return bool(self._nonce)

    def seal(self, plain: bytes) -> bytes:
        """Return `plain` in a box that only this attempt's key opens."""
        return self._key.seal(plain)

    def commit(self) -> None:
        """Write the seed, closed, and its commitment; from here on the vault takes faces in."""
        to, deck = self._to, self._to.profile.deck
        to.vault.begin(self.number)
        to.key_file.write(self.number, self._key.raw)
        for_chief = seal_to(to.chief, self._key.raw, to.entropy)
        boxes = {"box": _text(self.seal(self._seed)), "for_chief": _text(for_chief)}
        self._write("seed", boxes, public=False)
        self._write(
            "committed",
            {
                "commitment": self._commitment.hex(),
                "table_key": to.table_key,
                "match": to.match_id,
                "profile": to.profile.name,
                "profile_hash": self._hashed.hex(),
                "set": to.card_set,
                "back": to.back,
                "deck": {"packs": deck.packs, "jokers": deck.jokers, "cards": deck.cards},
            },
        )

    def take_cut(self, cut: int | None, reason: str | None = None) -> None:
        """Write the players' number, or why there is none."""
        self.cut = cut
        self._write("cut", {"cut": cut} if reason is None else {"cut": cut, "reason": reason})

    def begin(self) -> None:
        """Write that both boards began the attempt."""
        self._write("begun", {})

    def shuffled(self, passes: int) -> None:
        """Write that the shuffler is done."""
        self._write("shuffled", {"passes": passes})

    def hold(self, ledger: Ledger) -> None:
        """Bind the hands and write that they are right."""
        self._nonce = self._to.entropy(fair.NONCE_BYTES)
        record = self._to.vault.bind(ledger.places(), self._to.profile.deck.cards)
        hands = fair.hands(self._commitment, self._nonce, record)
        self._write("dealt", {"fed": ledger.fed, "refed": ledger.refed})
        self._write("hands_box", {"box": _text(self.seal(self._nonce + record))}, public=False)
        self._write("held", {"hands": hands.hex()})
        self._verdict(Outcome.OK, (), ledger)

    def refuse(self, outcome: Outcome, reasons: Sequence[str], ledger: Ledger | None) -> None:
        """Write why there are no hands; hands that were held already are withdrawn."""
        if self.held:
            self._write("withdrawn", {"reasons": list(reasons)})
        else:
            self._verdict(outcome, reasons, ledger)

    def release(self) -> None:
        """Write that the hands are out, with the turned-up card of the first deal."""
        self._write("released", self._turned_up())

    def reveal(self) -> None:
        """Write seed and cut."""
        self._write("revealed", {"seed": self._seed.hex(), "cut": self.cut})

    def record(
        self, events: Sequence[BoardEvent], last_look: Mapping[str, bool | int]
    ) -> dict[str, Any]:
        """Return all that was seen of an attempt: its board events, its hands, the last look.

        `last_look` is what the sensors said at the end, where they were asked.
        """
        hands = self._to.vault.hands
        record: dict[str, Any] = {
            "nonce": self._nonce.hex() or None,
            "hands": None if hands is None else hands.hex(),
        }
        record["events"] = opened(events)
        if last_look:
            record["settled"] = dict(last_look)
        return record

    def open(self, record: dict[str, Any]) -> None:
        """Publish the record of an attempt that gave no hands."""
        self._write("record", record)

    def close(self) -> None:
        """Forget faces and key: the attempt is over."""
        self._to.vault.forget()
        self._to.key_file.remove(self.number)

    def _verdict(self, outcome: Outcome, reasons: Sequence[str], ledger: Ledger | None) -> None:
        nothing = dict.fromkeys((*SEATS, TRAY), 0)
        self._write(
            "verdict",
            {
                "outcome": outcome.value,
                "reasons": list(reasons),
                "landed": nothing if ledger is None else ledger.landed(),
                "fed": 0 if ledger is None else ledger.fed,
                "refed": 0 if ledger is None else ledger.refed,
            },
        )

    def _turned_up(self) -> dict[str, str]:
        profile = self._to.profile
        if self.deal != 1 or not profile.turnup.deal1:
            return {}
        draws = fair.turned_up(self._commitment, self._seed, self.cut, profile.deck.cards)
        place, face = self._to.vault.turned_up(draws, profile.turnup.faces())
        return {"turned_up": face_text(face), "leader": self.sequence[place - 1]}

    def _write(self, kind: str, data: dict[str, Any], *, public: bool = True) -> None:
        self._to.record.write(kind, data, deal=self.deal, attempt=self.number, public=public)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)

"""Machines that open other hands, or another seed, than was dealt by."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from controller.deal import sequence as fair
from controller.journal.packed_board_events import BoardEventFields
from controller.machine.attempts.attempt_writer import AttemptWriter
from controller.vault.vault import Vault
from tests.cheats.changed import BOOK, VAULT, VICTIM, Cheat
from tests.cheats.evenings import THREE_DEALS, WITHDRAWN

NO_SEED = "the revealed seed does not give the published commitment"
OTHER_HANDS = "the opened hands are not those that were bound"


def two_exchanged(record: bytes) -> bytes:
    """Return the faces by place with the first one and another exchanged."""
    faces = bytearray(record)
    other = next(place for place, face in enumerate(faces) if face != faces[0])
    faces[0], faces[other] = faces[other], faces[0]
    return bytes(faces)


class ExchangesFaces(AttemptWriter):
    """Exchanges two faces in the hands that it opens."""

    def build_record(
        self, events: Sequence[BoardEventFields], *rest: Any, **more: Any
    ) -> dict[str, Any]:
        """Lie about two faces."""
        record = super().build_record(events, *rest, **more)
        if self.number == VICTIM and record.get("hands"):
            record["hands"] = two_exchanged(bytes.fromhex(record["hands"])).hex()
        return record


class BindsExchangedFaces(Vault):
    """Exchanges two faces before the hands are bound."""

    def bind_hands(self, places: Mapping[int, int], cards: int) -> bytes:
        """Lie about two faces."""
        record = super().bind_hands(places, cards)
        self._hands = two_exchanged(record) if self.attempt == VICTIM else record
        return self._hands


class AnotherNonce(AttemptWriter):
    """Opens its hands with other random bytes than they were bound with."""

    def build_record(
        self, events: Sequence[BoardEventFields], *rest: Any, **more: Any
    ) -> dict[str, Any]:
        """Lie about the nonce."""
        record = super().build_record(events, *rest, **more)
        return record | {"nonce": "00" * fair.NONCE_BYTES} if self.number == VICTIM else record


class AnothersOpening(AttemptWriter):
    """Opens the deal before in place of its own: seed and hands."""

    seed_before = b""
    hands_before: ClassVar[dict[str, Any]] = {}
    seed_too = True

    def write_held(self, ledger: Any) -> None:
        """Keep what the next attempt will show."""
        super().write_held(ledger)
        if self.number != VICTIM:
            hands = self.vault.hands or b""
            AnothersOpening.seed_before = self._seed
            AnothersOpening.hands_before = {"nonce": self._nonce.hex(), "hands": hands.hex()}

    def write_revealed(self, *rest: Any, **more: Any) -> None:
        """Show another's seed."""
        if self.number == VICTIM and self.seed_too:
            self._seed = self.seed_before
        super().write_revealed(*rest, **more)

    def build_record(
        self, events: Sequence[BoardEventFields], *rest: Any, **more: Any
    ) -> dict[str, Any]:
        """Show another's hands."""
        record = super().build_record(events, *rest, **more)
        return record | self.hands_before if self.number == VICTIM else record


class AnotherTablesOpening(AnothersOpening):
    """Opens what another table opened in place of its own."""

    def write_held(self, ledger: Any) -> None:
        """Keep nothing: the other table's is there."""
        AttemptWriter.write_held(self, ledger)


class AnothersHands(AnothersOpening):
    """Opens the hands of the deal before in place of its own."""

    seed_too = False


class AnotherTable(AttemptWriter):
    """Publishes the commitment of the table beside it, and deals as that one does."""

    def write_committed(self) -> None:
        """Take the other table's."""
        if self.number == VICTIM:
            beside = replace(self._binding, table_key="U" * 40)
            book = AttemptWriter(beside, self.plan, self._key, self._seed, self._chief)
            self._commitment, self._binding = book._commitment, beside
        super().write_committed()


CHEATS = (
    Cheat(
        name="two faces exchanged in what is opened",
        gains="a card that the reader told somebody of seems to lie elsewhere",
        parts={BOOK: ExchangesFaces},
        evening=WITHDRAWN,
        found=OTHER_HANDS,
        on_feed=OTHER_HANDS,
    ),
    Cheat(
        name="two faces exchanged before they are bound",
        gains="the opened hands fit what was bound, and are not those that lay there",
        parts={VAULT: BindsExchangedFaces},
        evening=WITHDRAWN,
        found="hands were exchanged before they were bound",
        on_feed="hands were exchanged before they were bound",
    ),
    Cheat(
        name="another nonce",
        gains="it hopes to open hands that were never bound",
        parts={BOOK: AnotherNonce},
        evening=WITHDRAWN,
        found=OTHER_HANDS,
        on_feed=OTHER_HANDS,
    ),
    Cheat(
        name="another attempt's opening",
        gains="an honest deal is shown in place of a crooked one",
        parts={BOOK: AnothersOpening},
        evening=WITHDRAWN,
        found=NO_SEED,
        on_feed=NO_SEED,
    ),
    Cheat(
        name="another attempt's hands",
        gains="honest hands are shown in place of crooked ones",
        parts={BOOK: AnothersHands},
        evening=WITHDRAWN,
        found=OTHER_HANDS,
        on_feed=OTHER_HANDS,
    ),
    Cheat(
        name="another table's commitment",
        gains="two tables deal the same hands, and one can tell the other",
        parts={BOOK: AnotherTable},
        evening=THREE_DEALS,
        found="committed names another table's key",
        on_feed="committed names another table's key",
    ),
)

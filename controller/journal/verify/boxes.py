"""What lies sealed in a journal's rows, opened with the key that the record shows.

So what a record says is held against the rows that were written while the cards moved, looks and
pockets and all; without the key they would agree as far as one can see, which is not far.
"""

import base64
from collections.abc import Callable, Iterator

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

from controller.journal.entries import JournalEntry
from controller.journal.fold import AttemptHistory
from controller.journal.verify.findings import VerifyFinding
from controller.journal.verify.parts import UnprovableError, has_open_hands, hex_field

Unseal = Callable[[bytes], bytes]
_BOX_MEANS = "what was sealed while the cards moved is not what is shown now"


def box_opener(progress: AttemptHistory) -> Unseal | None:
    """Return what opens an attempt's boxes; None while its key is not shown. Raises Unproved."""
    record = progress.steps.get("record")
    if record is None or record.data.get("key") is None:
        return None
    box, n = SecretBox(hex_field(progress, "record", "key")), record.n

    def unseal(sealed: bytes) -> bytes:
        try:
            return box.decrypt(sealed)
        except (CryptoError, ValueError):
            raise UnprovableError(
                n, "the key of the record does not open what was sealed"
            ) from None

    return unseal


def check_boxes(progress: AttemptHistory, unseal: Unseal | None) -> Iterator[VerifyFinding]:
    """Yield boxes of the journal that hold something else than is shown. Raises Unproved."""
    record, seed, box = (progress.steps.get(kind) for kind in ("record", "seed", "hands_box"))
    if record is None:
        return
    if unseal is None:
        if "events" in record.data and any(
            "sealed" in entry.data for entry in progress.wire_entries
        ):
            what = "the record has no key, and the journal has sealed rows"
            yield VerifyFinding(record.n, what, "nobody can hold the one against the other")
        return
    for entry, shown in ((seed, _shown_seed(progress)), (box, _shown_hands(progress))):
        if entry is not None and shown is not None and unseal(_box_bytes(entry)) != shown:
            what = f"{entry.kind} holds something else than was opened"
            yield VerifyFinding(entry.n, what, _BOX_MEANS)
    for entry in progress.wire_entries:
        if "sealed" in entry.data:
            unseal(_box_bytes(entry, "sealed"))


def _shown_seed(progress: AttemptHistory) -> bytes | None:
    return hex_field(progress, "revealed", "seed") if "revealed" in progress.steps else None


def _shown_hands(progress: AttemptHistory) -> bytes | None:
    if not has_open_hands(progress):
        return None
    return hex_field(progress, "record", "nonce") + hex_field(progress, "record", "hands", None)


def _box_bytes(entry: JournalEntry, field: str = "box") -> bytes:
    try:
        return base64.b64decode(entry.data[field], validate=True)
    except (KeyError, TypeError, ValueError):
        raise UnprovableError(entry.n, f"{entry.kind} has no box") from None

"""Signed heads of a journal, and the comparison of old and new heads of one table. No I/O.

At each change of its phase the machine signs the head of its journal. A program that keeps these
heads (`dealtable watch --heads`, a console) can prove that a table rewrote its past: both heads
have the table's own signature. The signature covers

    L("dealtable/head/1") ‖ L(table key, Z85 text) ‖ L(n) ‖ L(head, 32 bytes)

with the Ed25519 key that is called `verify` in the table's certificate and in its `opened` rows.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.messages import SignedHead
from controller.signing import length_prefixed
from controller.signing.signed_commands import from_hex

_HEAD_CONTEXT = "dealtable/head/1"
_HEAD_BYTES = 32
_SIG_BYTES = 64


def head_signed_bytes(table_key: str, n: int, head: bytes) -> bytes:
    """Return the bytes that the signature of the journal head `head` at entry `n` covers.

    `table_key` is the table's public CURVE key in Z85. `n` is the number of the entry that has the
    hash `head` (32 bytes). Raises ValueError for a negative number.
    """
    return b"".join(length_prefixed(field) for field in (_HEAD_CONTEXT, table_key, n, head))


def sign_head(table_key: str, n: int, head: bytes, secret: bytes) -> SignedHead:
    """Return the journal head `head` at entry `n`, with the table's signature.

    `secret` is the table's 32-byte Ed25519 secret (keys/table.sign). The other arguments are as in
    `head_signed_bytes`.
    """
    signature = SigningKey(secret).sign(head_signed_bytes(table_key, n, head)).signature
    return SignedHead(n=n, head=head.hex(), sig=signature.hex())


def verify_key(secret: bytes) -> bytes:
    """Return the 32-byte public key that verifies signatures made with `secret`."""
    return bytes(SigningKey(secret).verify_key)


def is_signed_by(signed: SignedHead, table_key: str, verify: bytes) -> bool:
    """Return whether `verify` (32 bytes) verifies `signed` as a head of the table `table_key`."""
    try:
        head, sig = from_hex(signed.head, _HEAD_BYTES), from_hex(signed.sig, _SIG_BYTES)
        VerifyKey(verify).verify(head_signed_bytes(table_key, signed.n, head), sig)
    except (ValueError, BadSignatureError):
        return False
    return True


class KeptHead(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A signed head of a journal: one line of the file that `watch --heads` writes.

    `table` is the table's name. `table_key` is its public CURVE key in Z85, which identifies the
    table. `time` is the table's own time stamp of the state in which the head was first seen.
    """

    table: str
    table_key: str
    n: int
    head: str
    sig: str
    time: str

    @property
    def signed_head(self) -> SignedHead:
        """Return the head and its signature, as the table published them."""
        return SignedHead(n=self.n, head=self.head, sig=self.sig)


class HeadConflict(msgspec.Struct, frozen=True, gc=False):
    """Two heads of one table that cannot both belong to the same growing journal.

    `kind` is "forked" for two heads of the same entry. It is "rewound" if the table is at an
    earlier entry than before. `kept` was seen first.
    """

    kind: Literal["forked", "rewound"]
    kept: KeptHead
    shown: KeptHead

    @property
    def en(self) -> str:
        """Return the conflict as English text for people."""
        kept, shown = self.kept, self.shown
        if self.kind == "forked":
            return (
                f"entry {shown.n} has the head {shown.head[:16]}… now and had {kept.head[:16]}… at "
                f"{kept.time}: this journal was rewritten. Keep both heads and compare them "
                "with the journal (dealtable verify --head)"
            )
        return (
            f"the journal ends at entry {shown.n} now and was at entry {kept.n} at {kept.time}: "
            "its end is gone, or another journal is in its place. Compare the kept heads "
            "with the journal (dealtable verify --head)"
        )

    @property
    def zh(self) -> str:
        """Return the conflict as Chinese text for people."""
        kept, shown = self.kept, self.shown
        if self.kind == "forked":
            return (
                f"第{shown.n}条记录的链头现为{shown.head[:16]}…，{kept.time}时为{kept.head[:16]}…："
                "日志已被改写。请保留两个链头，并与日志核对"
            )
        return (
            f"日志现止于第{shown.n}条，{kept.time}时已到第{kept.n}条："
            "日志末尾缺失，或已换成另一份。请用保留的链头与日志核对"
        )


def head_conflict(
    same_entry: KeptHead | None, furthest: KeptHead | None, shown: KeptHead
) -> HeadConflict | None:
    """Return how the head `shown` conflicts with kept heads of the table, or None if it does not.

    `same_entry` is the first kept head for the same entry, `furthest` the kept head for the latest
    entry. Each is None if there is no such head.
    """
    if same_entry is not None and same_entry.head != shown.head:
        return HeadConflict("forked", same_entry, shown)
    if furthest is not None and shown.n < furthest.n:
        return HeadConflict("rewound", furthest, shown)
    return None


class KeptHeads:
    """A store of the signed heads that tables have published. It finds conflicts. No I/O."""

    def __init__(self, kept: Iterable[KeptHead] = ()) -> None:
        """Add the heads `kept` from earlier runs, in the given order.

        Conflicts between these heads are stored in `conflicts`.
        """
        self._known: set[tuple[str, SignedHead]] = set()
        self._first_by_entry: dict[tuple[str, int], KeptHead] = {}
        self._furthest_by_table: dict[str, KeptHead] = {}
        self._last_shown: dict[str, SignedHead] = {}
        self.conflicts = [wrong for one in kept if (wrong := self.add(one)) is not None]
        # The next head of each table is always compared, even if it repeats the last kept head.
        self._last_shown.clear()

    def contains(self, one: KeptHead) -> bool:
        """Return whether a head with table, entry, hash and signature of `one` was added before."""
        return (one.table_key, one.signed_head) in self._known

    def is_last_shown(self, one: KeptHead) -> bool:
        """Return whether `one` is the head that was added last for its table.

        Heads that the constructor received do not count.
        """
        return self._last_shown.get(one.table_key) == one.signed_head

    def add(self, one: KeptHead) -> HeadConflict | None:
        """Add a head that a table published, and return its conflict with an earlier head.

        Return None without a conflict, and for a repetition of the table's last added head.
        """
        if self.is_last_shown(one):
            return None
        key = one.table_key
        furthest = self._furthest_by_table.get(key)
        first = self._first_by_entry.setdefault((key, one.n), one)
        wrong = head_conflict(first, furthest, one)
        if furthest is None or one.n > furthest.n:
            self._furthest_by_table[key] = one
        self._known.add((key, one.signed_head))
        self._last_shown[key] = one.signed_head
        return wrong

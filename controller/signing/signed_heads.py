"""Signed heads of a journal, and what it means when two that were kept do not agree. Pure.

At each change of its phase the machine signs the head of its journal. Whoever keeps these
heads (`dealtable watch --heads`, a console) can show a stranger that a table wrote its past
anew: both heads bear the table's own signature. The signature covers

    L("dealtable/head/1") ‖ L(table key, Z85 text) ‖ L(n) ‖ L(head, 32 bytes)

with the Ed25519 key that the table's certificate and its `opened` rows call `verify`.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from controller.messages import SignedHead
from controller.signing.encoding import length_prefixed
from controller.signing.signed_commands import from_hex

_HEAD_CONTEXT = "dealtable/head/1"
_HEAD_BYTES = 32
_SIG_BYTES = 64


def head_signed_bytes(table_key: str, n: int, head: bytes) -> bytes:
    """Return the bytes that the signature of a head stands for.

    `table_key` is the table's public CURVE key in Z85, `n` the number of the entry whose
    `head` (32 bytes) it is. Raises ValueError for a negative number.
    """
    return b"".join(length_prefixed(field) for field in (_HEAD_CONTEXT, table_key, n, head))


def sign_head(table_key: str, n: int, head: bytes, secret: bytes) -> SignedHead:
    """Return a head, signed with the table's 32-byte Ed25519 secret (keys/table.sign)."""
    signature = SigningKey(secret).sign(head_signed_bytes(table_key, n, head)).signature
    return SignedHead(n=n, head=head.hex(), sig=signature.hex())


def verify_key(secret: bytes) -> bytes:
    """Return the 32-byte key with which others check what `secret` signs."""
    return bytes(SigningKey(secret).verify_key)


def is_signed_by(signed: SignedHead, table_key: str, verify: bytes) -> bool:
    """Tell whether a head was signed for this table by the key that `verify` (32 bytes) is."""
    try:
        head, sig = from_hex(signed.head, _HEAD_BYTES), from_hex(signed.sig, _SIG_BYTES)
        VerifyKey(verify).verify(head_signed_bytes(table_key, signed.n, head), sig)
    except (ValueError, BadSignatureError):
        return False
    return True


class KeptHead(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A signed head as somebody kept it: a line of the file of `watch --heads`.

    `table`: its name, `table_key`: its public CURVE key in Z85, by which tables are told
    apart; `time`: the table's own stamp of the state in which it was first seen.
    """

    table: str
    table_key: str
    n: int
    head: str
    sig: str
    time: str

    @property
    def signed_head(self) -> SignedHead:
        """The head as the table signed it."""
        return SignedHead(n=self.n, head=self.head, sig=self.sig)


class HeadConflict(msgspec.Struct, frozen=True, gc=False):
    """Two heads of one table that cannot both be of one journal that only grows.

    `forked`: two heads of one entry. `rewound`: the table is at an entry before one that it
    was at already. `kept` was there first.
    """

    kind: Literal["forked", "rewound"]
    kept: KeptHead
    shown: KeptHead

    @property
    def en(self) -> str:
        """What people read."""
        kept, shown = self.kept, self.shown
        if self.kind == "forked":
            return (
                f"entry {shown.n} has the head {shown.head[:16]}… now and had {kept.head[:16]}… at "
                f"{kept.time}: this journal was written anew. Keep both heads and compare them "
                "with the journal (dealtable verify --head)"
            )
        return (
            f"the journal ends at entry {shown.n} now and was at entry {kept.n} at {kept.time}: "
            "its end is gone, or another journal stands in its place. Compare the kept heads "
            "with the journal (dealtable verify --head)"
        )

    @property
    def zh(self) -> str:
        """What people read, in Chinese."""
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
    """Return in what a head that is shown now contradicts those that were kept; None: in nothing.

    Of the table's kept ones: `same_entry` is the first of the same number, `furthest` the one of
    the highest number; None where there is none.
    """
    if same_entry is not None and same_entry.head != shown.head:
        return HeadConflict("forked", same_entry, shown)
    if furthest is not None and shown.n < furthest.n:
        return HeadConflict("rewound", furthest, shown)
    return None


class KeptHeads:
    """The heads that were seen, of any number of tables, each of them once. No I/O."""

    def __init__(self, kept: Iterable[KeptHead] = ()) -> None:
        """Take what was kept, in its order; where that conflicts is in `conflicts`."""
        self._known: set[tuple[str, SignedHead]] = set()
        self._first_by_entry: dict[tuple[str, int], KeptHead] = {}
        self._furthest_by_table: dict[str, KeptHead] = {}
        self._last_shown: dict[str, SignedHead] = {}
        self.conflicts = [wrong for one in kept if (wrong := self.add(one)) is not None]
        self._last_shown.clear()  # what a table shows next is looked at, whatever it is

    def contains(self, one: KeptHead) -> bool:
        """Tell whether this very head was seen before."""
        return (one.table_key, one.signed_head) in self._known

    def is_last_shown(self, one: KeptHead) -> bool:
        """Tell whether this head is the one that its table showed last."""
        return self._last_shown.get(one.table_key) == one.signed_head

    def add(self, one: KeptHead) -> HeadConflict | None:
        """Take a head that its table shows; return in what it contradicts those before it."""
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

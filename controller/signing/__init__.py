"""Signatures, and the two byte encodings over which signatures and hashes are computed.

Commitments, the journal's chain and signatures are computed over two forms
(controller/deal/PROOF.md): length-prefixed fields and canonical JSON. So a program in any language
can compute them again.
"""

import msgspec

_MAX_FIELD_BYTES = 0xFFFF


def length_prefixed(field: bytes | str | int) -> bytes:
    """Return the bytes of `field`, with their length (two bytes, big-endian) in front of them.

    The documents call this L(field). Text is encoded as UTF-8, a number as its decimal digits.
    Raises ValueError for a field longer than 65535 bytes or a negative number.
    """
    if isinstance(field, int):
        if field < 0:
            raise ValueError(f"a field is never negative: {field}")
        field = str(field)
    raw = field.encode() if isinstance(field, str) else field
    if len(raw) > _MAX_FIELD_BYTES:
        raise ValueError(f"a field holds at most {_MAX_FIELD_BYTES} bytes, not {len(raw)}")
    return len(raw).to_bytes(2, "big") + raw


def canonical_json(value: object) -> bytes:
    """Return `value` as JSON with sorted keys and no spaces, in UTF-8.

    Raises TypeError for a value that JSON cannot represent.
    """
    return msgspec.json.encode(value, order="sorted")

"""The kinds of entries: which are public, what their data holds, what must come before.

One table, for the machine that writes them and for `verify` that reads them.
Bytes are lower-case hex, seats and pockets their letters, `null` what is not known.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of entry. `data` are the fields it always has; it may have more.

    `after` are the kinds of the same attempt that must all stand before it;
    `once` says that an attempt has at most one.
    """

    public: bool
    data: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    once: bool = False


PUBLIC, PRIVATE, ONCE = True, False, True

KINDS: dict[str, Kind] = {
    # The daemon began: whose journal this is.
    "opened": Kind(PUBLIC, ("table", "table_key", "simulated", "version")),
    # {box, for_chief}, base64: the seed under the attempt key, that key for the chief.
    "seed": Kind(PRIVATE, ("box",), (), ONCE),
    # The context's parts (deal and attempt are the entry's own) and what was promised.
    # deck is {packs, jokers, cards}, back the set's.
    "committed": Kind(
        PUBLIC,
        ("commitment", "table_key", "match", "profile", "profile_hash", "set", "back", "deck"),
        ("seed",),
        ONCE,
    ),
    # The players' number; null with a reason for a deal without.
    "cut": Kind(PUBLIC, ("cut",), ("committed",), ONCE),
    "begun": Kind(PUBLIC, (), ("cut",), ONCE),
    "shuffled": Kind(PUBLIC, ("passes",), ("begun",), ONCE),
    # A group of board events (wire_group.py).
    "wire": Kind(PRIVATE, ("boots", "b")),
    "dealt": Kind(PUBLIC, ("fed", "refed"), ("begun",), ONCE),
    "held": Kind(PUBLIC, ("hands",), ("dealt",), ONCE),
    # {box}, base64: nonce and record behind `hands`, under the attempt key.
    "hands_box": Kind(PRIVATE, ("box",), ("dealt",), ONCE),
    # outcome ok | misdeal | void; reasons are fault names; landed {N, W, S, E, tray}.
    "verdict": Kind(PUBLIC, ("outcome", "reasons", "landed", "fed", "refed"), ("seed",), ONCE),
    "released": Kind(PUBLIC, (), ("held", "verdict"), ONCE),
    # The deal of an earlier run is over, and its seed went with the power.
    "closed": Kind(PUBLIC, (), ("released",), ONCE),
    "revealed": Kind(PUBLIC, ("seed", "cut"), ("committed", "verdict"), ONCE),
    # Held hands that may not go out any more, and why.
    "withdrawn": Kind(PUBLIC, ("reasons",), ("held", "verdict"), ONCE),
    # nonce and hands are null in an attempt that was never held. Of an attempt given up also:
    # events, its board events so far (wire_group.opened), and settled, the last look at the
    # sensors: {hopper_empty, path_empty, tray_empty, reader_pulses} at a count,
    # {pockets_empty, path_empty} at a beginning that the dealer board refused.
    "record": Kind(PUBLIC, ("nonce", "hands"), ("verdict",), ONCE),
    "opened_hand": Kind(PUBLIC, ("seat",)),
    "fault": Kind(PUBLIC, ("code", "name")),
    "fault_cleared": Kind(PUBLIC, ("code", "name")),
    # A player called the referee with the red button, and took it back with the green one.
    "call": Kind(PUBLIC, ("seat", "reason")),
    "call_ended": Kind(PUBLIC, ("seat",)),
    # A signed command that acted: who (key, hex), its id and name, its answer where it is public.
    "command": Kind(PUBLIC, ("id", "key", "cmd")),
    "counters": Kind(PUBLIC),
}
"""Kinds this program writes. A journal may hold others, of a later version."""

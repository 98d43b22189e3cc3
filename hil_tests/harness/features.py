"""Features that scenarios need and some test targets lack, such as a panel with buttons."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, get_args

import pytest

Feature = Literal[
    "fault_menu",
    "truth",
    "clock",
    "power",
    "buttons",
    "lid",
    "estop",
    "cables",
    "fingers",
    "spare_cards",
    "foreign_cards",
    "two_sets",
]

FEATURES: Final[Mapping[Feature, str]] = MappingProxyType(
    {
        "fault_menu": "faults that only a simulator can cause",
        "truth": "somebody who knows where every card physically is",
        "clock": "a wall clock that may be moved",
        "power": "a switch for the power of both boards",
        "buttons": "the panel's buttons",
        "lid": "a lid that may be opened while the machine runs",
        "estop": "an emergency stop",
        "cables": "the boards' cables within reach",
        "fingers": "a machine that fingers and tape may be put into",
        "spare_cards": "loose cards with the back of the set",
        "foreign_cards": "loose cards with another back",
        "two_sets": "two sets of cards with different backs",
    }
)
"""The text of each feature for the reason of a skip: "this target lacks …"."""

IN_PROCESS_FEATURES: Final[frozenset[Feature]] = frozenset(get_args(Feature))
"""Features of a table in this process: all."""

SIMULATED_FEATURES: Final[frozenset[Feature]] = frozenset(get_args(Feature)) - {"clock"}
"""Features of simulated boards behind ptys. Their wall clock is the computer's own."""

BENCH_FEATURES: Final[frozenset[Feature]] = SIMULATED_FEATURES - {"fault_menu", "truth"}
"""Features that a bench has if its file lists them."""


def needs(*features: Feature) -> pytest.MarkDecorator:
    """Return a pytest mark for a scenario that needs these features of its target.

    Raises KeyError for an unknown feature, when the file is read.
    """
    for feature in features:
        FEATURES[feature]
    return pytest.mark.needs(*features)


def missing_features(wanted: tuple[Feature, ...], there: frozenset[Feature]) -> str | None:
    """Return a text with the features of `wanted` that `there` lacks, or None if it has all."""
    missing = [feature for feature in wanted if feature not in there]
    if not missing:
        return None
    return "; ".join(f"this target lacks {each}: {FEATURES[each]}" for each in missing)

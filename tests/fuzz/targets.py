"""What is fuzzed: each target's function, and how its inputs are changed.

The functions are named, not imported: a run guided by coverage imports them itself, with the
house's packages instrumented.
"""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
PACKAGES = ("controller", "drivers", "sim")
"""What is the house's own."""

Function = Callable[[bytes], None]


class Target(NamedTuple):
    """A target: `of` is its module, `most` the longest input in bytes.

    `lines`: its inputs are JSON lines, changed as such (jsonlines.py). `share`: of the time of
    a run over all targets. `words`: pieces that its inputs are made of. `packages`: what is
    instrumented; the less, the faster.
    """

    name: str
    of: str
    most: int
    lines: bool = False
    share: float = 1.0
    words: tuple[str, ...] = ()
    packages: tuple[str, ...] = PACKAGES


_TOML = ("[[", "]]", "[", "]", " = ", '"', "'''", "\\u0000", "true", "0x", "1e9", "1979-05-27")
_TABLE = (
    *("[table]", "[dealer]", "[reader]", "[panel]", "[[card_set]]", "[gateway]", "[play]"),
    *("[limits]", "id", "profile", "backend", "state_dir", "runtime_dir", "event", "port", "pins"),
    *("baud", "firmware", "settings_crc", "back", "deal_ahead", "feed", "commands", "metrics"),
)
_SIM = (
    *("[sim]", "[mechanics]", "[[card_set]]", "[[fault]]", "name", "rate", "at", "wear", "packs"),
    *("jokers", "cards", "speed", "seed", "attendant", "control", "dealer_id", "reader_id"),
)
_EVENT = (
    *("profile", "title_en", "title_zh", "organizer", "[ending]", "[clock]", "[tribute]"),
    *("[returns]", "[ceremony]", "method", "deals", "time_s", "cut_margin", "[levels]", "[hands]"),
)
_ZPL = ("metadata", "curve", "name", "role", "verify", "seal", "sign", "unseal", "public-key")
_FAULTS = (
    *("double_feed", "jam", "misread", "stall", "lid", "estop", "sensor_stuck", "left_in_pocket"),
    *("at=", "rate=", "place=", "motor=", "sensor=", "clears_after=", "times=", "face=", "value="),
    *("pocket=", "confidence=", "repeat=true", "for_ms=", "board=", "ms=", "way=", "by_s="),
)

_ALL = (
    Target("decoder", "of_wire", 1024),
    Target("board_frames", "of_wire", 160, share=0.5),
    Target("host_frames", "of_wire", 32, share=0.25),
    Target("dealer", "of_boards", 2048, share=4),
    Target("reader", "of_boards", 1024),
    Target("link", "of_link", 1024, share=2),
    Target("heard", "of_records", 1024, share=0.5),
    Target("recording", "of_records", 8192, lines=True, share=0.5),
    Target("requests", "of_orders", 16_384, lines=True),
    Target("orders", "of_orders", 60_000, lines=True, share=6, packages=("controller",)),
    Target("entries", "of_journals", 30_000, lines=True, share=2),
    Target("feed_log", "of_journals", 30_000, lines=True),
    Target("spoilt_file", "of_journals", 8192),
    Target("wire_groups", "of_journals", 4096, lines=True, share=0.5),
    Target("kept_heads", "of_files", 4096, share=0.5),
    Target("heads_file", "of_files", 4096, lines=True, share=0.5),
    Target("manifest", "of_files", 4096, share=0.5),
    Target("table_toml", "of_files", 4096, words=_TOML + _TABLE),
    Target("sim_toml", "of_files", 4096, words=_TOML + _SIM),
    Target("event_toml", "of_files", 4096, words=_TOML + _EVENT),
    Target("certificate", "of_files", 2048, words=_ZPL, share=0.5),
    Target("endpoints", "of_files", 1024, share=0.25),
    Target("carried", "of_files", 2048, lines=True, share=0.25),
    Target("faults", "of_sim", 1024, words=_FAULTS, share=0.5),
    Target("bench_toml", "of_files", 4096, words=_TOML + _TABLE, share=0.5),
    Target("wear_toml", "of_sim", 2048, words=_TOML + _SIM + _FAULTS, share=0.5),
    Target("deals_file", "of_lab", 4096, share=0.5, packages=("controller",)),
    Target("control", "of_sim", 4096, lines=True),
)
TARGETS = {target.name: target for target in _ALL}


def function(target: Target) -> Function:
    """Import a target's function."""
    module = importlib.import_module(f"tests.fuzz.{target.of}")
    return cast(Function, getattr(module, target.name))


def corpus(name: str) -> list[Path]:
    """The inputs that are kept of a target."""
    return sorted(path for path in (CORPUS / name).glob("*") if path.is_file())

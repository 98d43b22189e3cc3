"""The page of limits: every figure of a self-test and every sign of wear, out of their tables."""

from collections.abc import Iterator
from pathlib import Path

from controller.acceptance import selftest_figures, wear_signs
from controller.acceptance.selftest_figures import FigureLimit

PAGE = Path(wear_signs.__file__).with_name("SELFTEST.md")
_HEAD = """\
# The figures of a self-test, and the signs of wear

`python -m tests.pages write` generates this page from `limits.toml` and `health.toml` in this
folder.

* If a figure is beyond *warn*, the test warns. If a figure is beyond *fail*, the machine may not be
  used.
* A limit in (brackets) is for a reader without a trigger wire.
* *Fault* is the fault with which a deal would end if the figure is beyond *fail*.
* *Provisional*: no source states this limit.
* *A look* is one try of the reader at reading a card. *The reference* is the simulated machine.
* To set a part with its screw, remember: clockwise means a smaller gap, more light, or a more
  sensitive sensor.

## `dealtable selftest CONFIG` 整机自检
"""
_WEAR = """\

## `dealtable health STATE_DIR` 设备状况

When a sign reaches the value in the column *soon*, plan the work. When it reaches the value in the
column *now*, do the work before the next deal.

* *per 1000*: the number in a thousand cards, over the last 100 attempts (tries at dealing).
* *since cleaned*, *since replaced*: the number since the part was last cleaned or replaced.
  `--cleaned PART` and `--replaced PART` record this work.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *_figures(), _WEAR, *_signs()]) + "\n"


def _figures() -> Iterator[str]:
    yield "| figure | part | what | warn | fail | fault | what to do | why |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, row in selftest_figures.figure_limits().items():
        named = selftest_figures.machine_parts()
        parts = "<br>".join(f"{named[part].zh} {named[part].en}" for part in row.parts)
        yield (
            f"| `{name}` | {parts} | {row.zh}<br>{row.en} | {_bound(row, 'warn')} "
            f"| {_bound(row, 'fail')} | {row.fault} | {row.do_zh}<br>{row.do_en} | {row.reason} |"
        )


def _bound(row: FigureLimit, which: str) -> str:
    sign = "≤" if row.sense == "most" else "≥"
    asked = "" if row.asked is None else f" ({getattr(row.asked, which):g})"
    return f"{sign} {getattr(row, which):g}{asked} {row.unit}"


def _signs() -> Iterator[str]:
    yield "| sign | part | what | soon | now | what to do | why |"
    yield "|---|---|---|---|---|---|---|"
    for name, row in wear_signs.wear_signs().items():
        words = wear_signs.service_parts().get(row.part)
        part = "牌套 each set" if words is None else f"{words.zh} {words.en}"
        per = "per 1000" if row.per == "1000" else f"since {row.since}"
        yield (
            f"| `{name}` | {part} | {row.zh}<br>{row.en} | {row.soon:g} {per} | {row.now:g} {per} "
            f"| {row.do_zh}<br>{row.do_en} | {row.reason} |"
        )

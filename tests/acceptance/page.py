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

Words of this page:

* The *hopper* has the stack of cards to deal. The *feeder* moves one card after the other from the
  hopper to the *window*, where the reader reads the card. The *pass rollers* then move the card
  through the *gate*. The *flap* of the gate leads the card to one of five *outlets*. Four outlets
  lead to the four *pockets*, and each pocket takes the cards of one hand. The fifth outlet leads to
  the *tray*, which takes cards that must be read again. The *lift* raises the dealt hands.
* The table's computer sends the dealer board an outlet for each card: the *route* of the card. A
  *landing* is the fall of a card into a pocket or the tray. A light beam at the end of each outlet,
  the *landing beam*, detects each landing. An *attempt* is one try at dealing. A *frame* is one
  message on a serial line.
* A *look* is one try of the reader to read a card. A pulse on the *trigger wire*, from the dealer
  board to the reader board, starts a look. The *engine* is the reader's camera or code scanner.
* A *figure* is a value that a self-test measures for a part of the machine. If a figure is measured
  several times, the worst value counts. The columns *warn* and *fail* have the limits of the
  figure. `≤` marks the highest permitted value, and `≥` marks the lowest permitted value. A figure
  is *beyond* a limit if the limit does not permit its value. If a figure is beyond the limit
  *warn*, the report has a warning. If a figure is beyond the limit *fail*, the machine may not be
  used. For a reader without a trigger wire, a limit in (brackets) replaces the limit before it.
* Each figure shows whether one kind of error occurs. If this error occurs in a deal, the table
  reports the fault in the column *fault*.
* *Provisional* in the column *why* means: no source states this limit, so it is an estimate.
* The *reference* is the simulated machine at its normal speed.
* In a *round* the machine shuffles and feeds the whole set of cards, and its lift raises the
  hands. Then a person puts the cards back into the hopper. By default a test has about five rounds,
  which feed at least 500 cards together. *In 500* means: the number of cases for every 500 cards
  of these rounds. The *27-lock* of the dealer board releases the hands only if every count is
  right.
* Names such as `read_limit_ms` are settings of the boards and of the table. FEED is the command to
  the dealer board to feed cards.
* `dealtable calibrate` asks people to turn the screws of the feeder's gap, the reader's light and
  the sensors of the pockets. A clockwise turn makes the gap smaller, the light brighter, or the
  sensor more sensitive.

## `dealtable selftest CONFIG` 整机自检
"""
_WEAR = """\

## `dealtable health STATE_DIR` 设备状况

A *sign* is a number that shows how worn a part is. `dealtable health` computes it from the table's
journal (the table's record of events). If a sign reaches the value in the column *soon*, plan the
work in the column *what to do*. If the sign reaches the value in the column *now*, do this work
before the next deal. An *attempt* is one try at dealing.

* *per 1000*: the sign is the number of cases in a thousand cards. It is computed from the last 100
  attempts. Attempts before the last work on the part do not count. If the counted attempts have
  fewer than 1000 cards, the sign has no value.
* *since cleaned*, *since replaced*: the sign is the count since the part was last cleaned or
  replaced. If this was never done, the count begins with the journal.
* After you have cleaned a part, run `dealtable health STATE_DIR --cleaned PART`. After you have
  replaced a part, run `dealtable health STATE_DIR --replaced PART`. The counts for the part then
  begin again at 0. A replaced part also counts as clean. But `--cleaned` does not change a count
  *since replaced*. PART is `rollers`, `reader`, `sensors`, `lift`, `motors`, `shuffler`, or `set:`
  and the id of a set (`set:S1`).
* A *landing* is the fall of a card into a pocket or the tray, which a light beam detects. A *look*
  is one try of the reader to read a card.
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

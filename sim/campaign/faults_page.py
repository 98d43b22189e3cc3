"""The page sim/FAULTS.md: the menu of faults, and the effects of each fault in a campaign."""

from collections.abc import Iterable, Iterator, Sequence

from controller.faults import fault as row_of
from sim.campaign.attempt_log import fault_text
from sim.campaign.campaign_lives import WEAR_LEVELS
from sim.campaign.campaign_report import (
    COLUMNS,
    MUST_BE_ZERO,
    CampaignReport,
    blame_field,
    row_cells,
)
from sim.mechanics.fault_menu import Bound, FaultMenuEntry, WearLevel, fault_menu, get_wear_level

_HEAD = """\
# The faults of a simulated machine

This page lists the faults that the simulator can cause, and what the table did about each of them.
This command generates the page from sim/faults.toml:

    python -m tests.pages write

## The menu

A fault *strikes* when it takes effect. The column *strikes* shows what it affects:

* *a card*: the fault strikes when the card is fed or read, or passes the gate.
* *the set*: the fault changes the cards in the hopper, or the cards that are put into it next.
* *a part* of the machine, *the line* (a serial line), *a board*, or *the host*, which is the
  computer of the table's program.

A fault strikes at once, at card N (`at`), or at random with a `rate`. With `repeat` the fault
stays. The rate is the chance for each card, write or filling of the hopper (sim/faults.toml). A
seed decides the random values, so each run can be repeated. *Right blame* has the codes with which
the table may report this fault. The machine absorbs a *mild* fault, without a redeal and without a
person's action. The column *mild* has the conditions for this. `clears_after` is the number of
tries that free the card.
"""
_STRIKES = {
    "card": "a card",
    "set": "the set",
    "now": "a part",
    "line": "the line",
    "board": "a board",
    "host": "the host",
}
_LEGEND = """\
*Injected*: the number of strikes. *Active in*: the attempts in which the fault was in force, often
together with other faults. An attempt is one try at dealing. These attempts ended in one of four
ways: with right hands and without a person's action (*recovered*), with right hands after a
person's action (*by hand*), *misdealt* (the cards prove the reason), or *void* (another reason). In
some of these attempts the *referee* was called. *Detected as*: the number of these attempts in
which one of the right codes was the reason or an alert."""
_TABLE = "## Detection and recovery"


def render_menu() -> str:
    """Return the first part of the page FAULTS.md, which depends on the menu only."""
    rows = (
        (
            name,
            entry.what,
            _STRIKES[entry.strikes],
            ", ".join(f"`{field}`" for field in entry.takes) or "–",
            "no"
            if entry.mild is None
            else " and ".join(_bound_text(*one) for one in entry.mild.items()) or "always",
            _blame_text(entry),
        )
        for name, entry in fault_menu().items()
    )
    headings = ("fault", "what", "strikes", "fields", "mild", "right blame")
    lines = [_HEAD, *_markdown(headings, rows), ""]
    for level in WEAR_LEVELS:
        lines += [f"## Wear: {level}", "", *_wear_part(get_wear_level(level)), ""]
    return "\n".join(lines)


def render_campaign(report: CampaignReport) -> str:
    """Return the second part of the page: the effects of each fault in a campaign.

    It includes faults that never struck.
    """
    zeros = ", ".join(f"{getattr(report, kind)} {words}" for kind, words in MUST_BE_ZERO.items())
    lines = [
        _TABLE,
        "",
        f"This part was written by `dealtable campaign --deals {report.asked} --faults "
        f"{report.level} --seed {report.seed} --page sim/FAULTS.md`:",
        f"{report.deals} deals, {report.attempts} attempts; {zeros};",
        f"{report.needless_misdeals} failed attempts with mild faults only; cases in which an "
        "extra card was left undetected beside right hands (`deploy/THREATS.md`): "
        f"{report.left_behind};",
        f"{report.ready_without_redeal} deals ready without a redeal, and "
        f"{report.ready_without_hand} without a person's action.",
        "",
        _LEGEND,
        "",
        *_markdown(COLUMNS, (row_cells(key, row) for key, row in report.faults.items())),
        "",
    ]
    return "\n".join(lines)


def render_faults_page(report: CampaignReport) -> str:
    """Return the whole page FAULTS.md, with the results of a campaign."""
    return render_menu() + render_campaign(report)


def split_page(page: str) -> tuple[str, str]:
    """Return the menu part and the campaign part of the page. A missing campaign part is empty."""
    first, heading, rest = page.partition(_TABLE)
    return first, heading + rest


def _bound_text(field: str, bound: Bound) -> str:
    if isinstance(bound, tuple):
        return f"`{field}` {' or '.join(map(str, bound))}"
    if isinstance(bound, bool):
        return f"`{field}`" if bound else f"without `{field}`"
    if isinstance(bound, str):
        return f"`{field}` {bound}"
    return f"`{field}` at most {bound:g}"


def _blame_text(entry: FaultMenuEntry) -> str:
    field, right = blame_field(entry)
    if not field:
        return _codes_text(right[""])
    same: dict[tuple[str, ...], list[str]] = {}
    for value, codes in right.items():
        same.setdefault(codes, []).append(value)
    return "; ".join(f"`{', '.join(keys)}`: {_codes_text(codes)}" for codes, keys in same.items())


def _codes_text(names: Sequence[str]) -> str:
    return ", ".join(f"{row_of(name).code} {name}" for name in names) or "none"


def _wear_part(level: WearLevel) -> Iterator[str]:
    rows = [(fault_text(fault), _rate_text(fault.rate)) for fault in level.rates]
    for pair in level.together:
        names = " with ".join(map(fault_text, pair.faults))
        rows.append((names, f"{_rate_text(pair.rate)} a filling"))
    if rows:
        yield from _markdown(("fault", "rate"), rows)
    else:
        yield "Nothing."


def _rate_text(rate: float) -> str:
    return f"{rate:.7f}".rstrip("0")


def _markdown(headings: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield f"| {' | '.join(row)} |"

"""The page sim/FAULTS.md: the menu of faults, and the effects of each fault in a campaign."""

from collections.abc import Iterable, Iterator, Sequence

from controller.faults import fault as row_of
from controller.host.toml_files import read_resource
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

_TEXTS = read_resource("sim.campaign", "faults_page.toml", dict[str, str])
"""The texts of the page that people write, by name."""
_STRIKES = {
    "card": "a card",
    "set": "the set",
    "now": "a part",
    "line": "the line",
    "board": "a board",
    "host": "the host",
}
_TABLE = "## Detection and recovery"


def render_menu() -> str:
    """Return the first part of the page FAULTS.md: the menu of faults and the wear levels."""
    rows = (
        (
            name,
            entry.what,
            _STRIKES[entry.strikes],
            ", ".join(f"`{field}`" for field in entry.takes) or "–",
            "no"
            if entry.mild is None
            else "; ".join(_bound_text(*one) for one in entry.mild.items()) or "always",
            _blame_text(entry),
        )
        for name, entry in fault_menu().items()
    )
    headings = ("fault", "what", "strikes", "fields", "mild", "right codes")
    lines = [_TEXTS["head"], *_markdown(headings, rows), ""]
    for level in WEAR_LEVELS:
        lines += [
            f"## Wear: {level}",
            "",
            _TEXTS[level],
            "",
            *_wear_part(get_wear_level(level)),
            "",
        ]
    return "\n".join([*lines, ""])


def render_campaign(report: CampaignReport) -> str:
    """Return the second part of the page: the effects of each fault in a campaign.

    It includes faults that never struck.
    """
    zeros = ", ".join(f"{getattr(report, kind)} {words}" for kind, words in MUST_BE_ZERO.items())
    lines = [
        _TABLE,
        "",
        f"`dealtable campaign --deals {report.asked} --faults {report.level} --seed {report.seed} "
        "--page sim/FAULTS.md` wrote this section. The campaign had these results:",
        "",
        f"* {report.deals} deals, {report.attempts} attempts; {zeros};",
        "* attempts that failed although only mild faults were active: "
        f"{report.needless_misdeals};",
        "* attempts in which an extra card stayed in the machine, undetected, while the hands were "
        f"right (`deploy/THREATS.md`): {report.left_behind};",
        f"* deals that gave right hands without a redeal: {report.ready_without_redeal};",
        f"* deals that gave right hands without a person's action: {report.ready_without_hand}.",
        "",
        _TEXTS["legend"],
        "",
        *_markdown(COLUMNS, (row_cells(key, row) for key, row in report.faults.items())),
        "",
    ]
    return "\n".join(lines)


def render_faults_page(report: CampaignReport) -> str:
    """Return the whole page FAULTS.md, with the results of a campaign."""
    return render_menu() + render_campaign(report)


def split_page(page: str) -> tuple[str, str]:
    """Split `page` into its menu part and its campaign part. A missing campaign part is empty."""
    first, heading, rest = page.partition(_TABLE)
    return first, heading + rest


def _bound_text(field: str, bound: Bound) -> str:
    if isinstance(bound, tuple):
        return f"`{field}` is {', '.join(bound[:-1])} or {bound[-1]}"
    if isinstance(bound, bool):
        return f"with `{field}`" if bound else f"without `{field}`"
    if isinstance(bound, str):
        return f"`{field}` is {bound}"
    return f"`{field}` is at most {bound:g}"


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
        yield _TEXTS["rates"]
        yield from _markdown(("fault", "rate"), rows)


def _rate_text(rate: float) -> str:
    return f"{rate:.7f}".rstrip("0")


def _markdown(headings: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)
    for row in rows:
        yield f"| {' | '.join(row)} |"

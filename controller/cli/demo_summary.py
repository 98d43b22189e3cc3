"""What `dealtable demo --once` says at its end: deals, how their pace was held, what it cost."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from controller.deal.sequence import sequence
from controller.rules.rulebooks import load_profile
from controller.trials.costs import ProcessCost, count_cores
from controller.trials.hall import HallPlan
from controller.trials.mechanical import mechanical_s
from controller.trials.players import DealResult
from sim.mechanics.settings import MechanicsSettings

# There is a line for every deal of so many tables, else only for what was not as usual.
MAX_LISTED_TABLES = 8


@dataclass(frozen=True)
class DemoResult:
    """What a demo brought: where it was, its deals, tables that failed, and what it cost.

    `costs` are of the time in which people played, `took_s`, and by kind of process.
    """

    places: dict[str, Any]
    deals: list[DealResult]
    failures: list[str]
    costs: dict[str, ProcessCost]
    took_s: float

    def list_problems(self) -> list[str]:
        """Return what is not as it must be, a line each: wrong deals, tables that failed."""
        wrong = [f"table {d.table}, deal {d.deal}: {d.wrong}" for d in self.deals if d.wrong]
        return [*wrong, *self.failures]


def format_summary_json(plan: HallPlan, result: DemoResult, costs: bool) -> bytes:
    """Return the summary for programs; `costs`: with processor time and memory."""
    told: dict[str, Any] = result.places | {
        "deals": [_make_deal_row(plan, one) for one in result.deals]
    }
    if costs:
        told["costs"] = {"cores": count_cores(), "took_s": result.took_s, "kinds": result.costs}
    return msgspec.json.encode(told)


def format_summary_lines(plan: HallPlan, result: DemoResult, costs: bool) -> Iterator[str]:
    """Yield the summary for people."""
    rows = [_make_deal_row(plan, one) for one in result.deals]
    for row in rows:
        if plan.tables <= MAX_LISTED_TABLES or row["misdeals"]:
            yield _format_deal(row)
    if plan.tables > MAX_LISTED_TABLES and rows:
        yield _format_overview(plan, rows)
    if costs:
        for kind, cost in result.costs.items():
            yield _format_cost(kind, cost, len(rows), result.took_s * plan.tables)
    yield f"check it: dealtable verify {result.places['tables'][0]['state_dir']}"


def _format_deal(row: dict[str, Any]) -> str:
    counts = " ".join(f"{pocket} {count}" for pocket, count in row["landed"].items())
    misdeals = "".join(f", {m['outcome']} before: {m['reason']}" for m in row["misdeals"])
    return (
        f"table {row['table']}, deal {row['deal']}: {row['outcome']}, fed {row['fed']}, "
        f"{counts}; {row['wall_s']:.2f} s{misdeals}"
    )


def _format_overview(plan: HallPlan, rows: list[dict[str, Any]]) -> str:
    """Return one line about the deals of many tables."""
    paces = [row["wall_s"] / row["mechanical_s"] for row in rows]
    misdeals = sum(len(row["misdeals"]) for row in rows)
    return (
        f"{plan.tables} tables, {len(rows)} deals, {misdeals} misdeals; "
        f"{statistics.median(paces):.3f} times what their mechanics take, "
        f"at most {max(paces):.3f}"
    )


def _format_cost(kind: str, cost: ProcessCost, deals: int, table_s: float) -> str:
    """Return one kind of process; `table_s`: seconds times tables."""
    each = cost.processes
    return (
        f"{kind:12}{each:4} processes {cost.cpu_s / max(deals, 1):7.3f} s CPU a deal, "
        f"{100 * cost.cpu_s / table_s:5.2f} % of a core a table; "
        f"{cost.rss_mib / each:5.1f} MiB each, {cost.pss_mib / each:5.1f} with shared pages divided"
    )


def _make_deal_row(plan: HallPlan, dealt: DealResult) -> dict[str, Any]:
    """Return a deal for the summary, with the time the mechanics alone would take."""
    profile = load_profile("international-000")
    seed = bytes.fromhex(dealt.seed)
    order = sequence(bytes.fromhex(dealt.commitment), seed, dealt.cut, profile.deck.cards)
    row: dict[str, Any] = msgspec.to_builtins(dealt)
    del row["wrong"], row["feeding_ms"]
    settings = MechanicsSettings(speed=plan.speed)
    alone_s = mechanical_s(settings, profile, order, feeding_ms=dealt.feeding_ms)
    return row | {"mechanical_s": round(alone_s, 4)}

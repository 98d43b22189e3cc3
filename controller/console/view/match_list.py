"""The list of matches: the matches at the tables, and the matches with a stored sheet."""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, Literal

import msgspec

from controller.console.store.match_records import StoredSheet, signature_count
from controller.console.table_snapshots import natural_sort_key
from controller.console.view import fill_struct
from controller.console.view.hall_rows import PairName, build_pair_name
from controller.messages import PublicScore, PublicState, PublicVerdict, Side


class MatchListRow(msgspec.Struct, frozen=True, kw_only=True):
    """One match in the list of matches.

    `state`: the state of its sheet, or "open" while the match is played. `kept_ms`: when its sheet
    was last stored (milliseconds since 1970), or null if it never was.
    """

    table: str
    table_no: str
    event: str
    round: int
    match_no: int
    match: str
    stage: str
    state: Literal["open", "over", "signed"]
    pairs: dict[Side, PairName]
    deals: int
    levels: dict[Side, str | None] | None = None
    verdict: PublicVerdict | None = None
    score: PublicScore | None = None
    signed: int = 0
    signers: int = 0
    version: int = 1
    corrections: int = 0
    penalties: int = 0
    rules: str = ""
    kept_ms: int | None = None


class AttemptLine(msgspec.Struct, frozen=True, gc=False):
    """One attempt in the list of a match's attempts.

    `of_deal`: its number within its deal, from 1 on. `attempt`: the table's number. `revealed`: the
    attempt can be checked.
    """

    deal: int
    of_deal: int
    attempt: int
    revealed: bool


def build_attempt_lines(found: Iterable[tuple[int, int, bool]]) -> list[AttemptLine]:
    """Return a line for each attempt. `found`: (deal, attempt, whether its seed is published)."""
    before: Counter[int] = Counter()
    told = []
    for deal, attempt, revealed in found:
        before[deal] += 1
        told.append(AttemptLine(deal, before[deal], attempt, revealed))
    return told


_SHEET_STATE: Final = attrgetter("state", "version", "signed")


def build_match_list(
    kept: Sequence[StoredSheet], states: Iterable[PublicState]
) -> list[MatchListRow]:
    """Return one row for each match that has a stored sheet or is set up at a table.

    If a table's present state and its stored sheet differ, the row is that of the state.
    """
    lines = {(one.table, one.sheet.match, one.sheet.start_ms): _row_of_sheet(one) for one in kept}
    for state in states:
        line = _row_of_state(state)
        if line is None:
            continue
        key = line.table, line.match, state.match.start_ms
        if key not in lines or _SHEET_STATE(lines[key]) != _SHEET_STATE(line):
            lines[key] = line
    order = sorted(
        lines.values(),
        key=lambda one: (one.event, -one.round, one.match_no, natural_sort_key(one.table)),
    )
    return sorted(order, key=lambda line: line.kept_ms or 1 << 62, reverse=True)


def _row_of_sheet(one: StoredSheet) -> MatchListRow:
    sheet = one.sheet
    return fill_struct(
        MatchListRow,
        sheet,
        table=one.table,
        pairs={side: build_pair_name(pair) for side, pair in sheet.pairs.items()},
        deals=len(sheet.deals) or len(sheet.hands),
        signed=signature_count(sheet),
        signers=len(sheet.signatures),
        corrections=len(sheet.corrections),
        penalties=sum(not one.overturned for line in sheet.deals for one in line.penalties),
        rules=sheet.rules.name,
        kept_ms=one.kept_ms,
    )


def _row_of_state(state: PublicState) -> MatchListRow | None:
    """Return the row of the match that a table has now, or None if it has no match."""
    match = state.match
    named = (match.match, match.event, match.round, match.match_no, match.table_no, match.stage)
    if None in named:
        return None
    return fill_struct(
        MatchListRow,
        match,
        table=state.table,
        state="open" if match.verdict is None else "over" if match.signers else "signed",
        pairs={side: build_pair_name(pair) for side, pair in match.pairs.items() if pair},
        deals=match.deal or 0,
        signed=len(match.signed),
        signers=len(match.signed) + len(match.signers),
        penalties=sum(ruling.state == "decided" for ruling in match.rulings),
        rules=match.profile,
    )

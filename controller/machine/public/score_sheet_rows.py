"""The lines of a score sheet: one for each deal, each correction and each note."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from controller.machine.public.public_results import copied_fields, numbers_by_side
from controller.match.match_state import AnyMatch, BigTwoRow, GuandanMatch
from controller.match.sheet_rows import (
    CardGiven,
    CorrectionRow,
    DealRow,
    LeaderRow,
    OverturnedRow,
    RedealtRow,
    RulingRow,
    Sheet,
    SheetRowBase,
    ShiftRow,
    StoppedRow,
    apply_row,
    effective_rows,
)
from controller.match.transfer_document import TableMove
from controller.messages import Side
from controller.rules.deal_result import DealResult, FinishOrder
from controller.rules.match_standing import MatchStanding, PerSide, initial_standing
from controller.rules.penalties.offences import catalogue_words, find_offence
from controller.rules.ranks import level_change_words, level_text
from controller.seats import SEAT_NAMES, SEATS, SIDE_NAMES
from controller.seats import SIDES as BOTH
from controller.sheet.form import (
    BigTwoLine,
    CardPassed,
    DealLine,
    DealOutcome,
    SheetCorrection,
    SheetNote,
    SheetPenalty,
)
from controller.words import Words, decided_by_words, reason_words


def deal_lines(match: GuandanMatch) -> list[DealLine]:
    """Return one line of the sheet for each recorded deal, also for a deal that was voided."""
    now = dict(_counting_deals(match))
    return [_deal_line(match, row, now.get(row.row)) for row in _rows_of(match.sheet, DealRow)]


def _counting_deals(
    match: GuandanMatch,
) -> Iterator[tuple[int, tuple[DealRow, MatchStanding, MatchStanding]]]:
    """Yield row number and (corrected row, standing before, standing after) of deals that count."""
    standing = initial_standing(match.profile)
    for row in effective_rows(match.sheet):
        before, standing = standing, apply_row(match.profile, standing, row)
        if isinstance(row, DealRow):
            yield row.row, (row, before, standing)


def _deal_line(
    match: GuandanMatch, row: DealRow, counts: tuple[DealRow, MatchStanding, MatchStanding] | None
) -> DealLine:
    result, rules = row.result if counts is None else counts[0].result, match.profile.tribute
    returned = rules.returns_double if len(row.tribute) > 1 else rules.returns_single
    return DealLine(
        **copied_fields(row, "row", "deal", "owner", "extra", "by_hand", "cutter", "cut"),
        **copied_fields(row, "first_drawer", "leader", "turned_up", "anti", "misdeals", "began_ms"),
        level=level_text(row.level),
        outcome=deal_outcome(result),
        result=result.result_class,
        winners=result.winners,
        corrected=result != row.result,
        uncut=row.cut is None and row.began_ms is not None,
        tribute=[_passed_card(one) for one in row.tribute],
        returns=[_passed_card(one, secret=returned == "secret") for one in row.returns],
        dead=list(row.dead),
        penalties=_penalties(match.sheet, row.deal),
        ended_ms=row.at_ms,
        **({"counts": False} if counts is None else _changes_of_deal(row, *counts[1:], result)),
    )


def _changes_of_deal(
    row: DealRow, before: MatchStanding, after: MatchStanding, result: DealResult
) -> dict[str, Any]:
    won = result.winners
    return {
        "gain": after.levels.of(won) - before.levels.of(won),
        "levels": level_texts(after.levels),
        "written": level_texts(row.levels) if row.levels != after.levels else None,
        "points": numbers_by_side(after.points),
    }


def level_texts(levels: PerSide) -> dict[Side, str]:
    """Return the level of each side as people write it, for example "A"."""
    return {side: level_text(levels.of(side)) for side in BOTH}


def deal_outcome(result: DealResult) -> DealOutcome:
    """Return the result of a deal for the score sheet: finish order, or the side that forfeited."""
    if isinstance(result, FinishOrder):
        return DealOutcome(order=list(result.places))
    return DealOutcome(forfeited_by=result.loser)


def _passed_card(one: CardGiven, *, secret: bool = False) -> CardPassed:
    return CardPassed(**copied_fields(one, "giver", "to", "card"), secret=secret)


def _penalties(sheet: Sheet, deal: int) -> list[SheetPenalty]:
    overturned = {row.ruling for row in _rows_of(sheet, OverturnedRow)}
    return [
        SheetPenalty(
            **copied_fields(row, "ruling", "side", "seat", "article"),
            penalty_en=words.en,
            penalty_zh=words.zh,
            overturned=row.ruling in overturned,
        )
        for row in _rows_of(sheet, RulingRow)
        if max(row.deal, 1) == deal
        for words in [catalogue_words("penalty", row.penalty)]
    ]


def big_two_lines(rows: tuple[BigTwoRow, ...]) -> list[BigTwoLine]:
    """Return one line for each deal of Big Two, with the seats' totals after that deal."""
    totals, lines = dict.fromkeys(SEATS, 0), []
    for row in rows:
        totals = {seat: totals[seat] + row.scores[seat] for seat in totals}
        lines.append(
            BigTwoLine(
                **copied_fields(row, "row", "deal", "leader", "left", "scores", "by_hand"),
                **copied_fields(row, "uncut", "misdeals"),
                opened=list(row.opened),
                doubled=list(row.doubled),
                totals=totals,
                ended_ms=row.at_ms,
            )
        )
    return lines


def corrections(match: GuandanMatch) -> list[SheetCorrection]:
    """Return one line for each correction of a deal's result, with the old and the new result."""
    return [
        SheetCorrection(
            **copied_fields(row, "row", "at_ms", "deal", "choice", "by", "entered_by"),
            was=deal_outcome(row.was),
            now=deal_outcome(row.result),
            reason=why.en,
            reason_zh=why.zh if why.zh != why.en else None,
            confirmed_by=confirmed_by,
        )
        for row in _rows_of(match.sheet, CorrectionRow)
        for why, confirmed_by in [_reason(match, row)]
    ]


def _reason(match: GuandanMatch, row: CorrectionRow) -> tuple[Words, str | None]:
    """Return the reason of a correction, and the person who confirmed the correction in writing.

    The person is None without such a confirmation. The reason is the offence of the ruling that
    caused the correction, or a person's words.
    """
    if row.ruling is None:
        return reason_words(row.reason), match.spoken.get(row.row)
    ruling = next(one for one in match.rulings if one.id == row.ruling)
    return Words(row.reason, find_offence(ruling.charge.offence).zh), ruling.confirmed_by


def sheet_notes(match: AnyMatch, moves: Iterable[TableMove]) -> list[SheetNote]:
    """Return the notes on the sheet: rows of the kinds in `_NOTES`, and moves between tables."""
    sheet = match.sheet if isinstance(match, GuandanMatch) else ()
    notes = [
        SheetNote(row=row.row, at_ms=row.at_ms, en=told.en, zh=told.zh)
        for row in sheet
        if type(row) in _NOTES
        for told in [_NOTES[type(row)](row)]
    ]
    return sorted((*notes, *map(_move_note, moves)), key=lambda note: note.row)


def _move_note(move: TableMove) -> SheetNote:
    by = decided_by_words(move.by, move.entered_by)
    return SheetNote(
        row=move.row,
        at_ms=move.at_ms,
        en=f"moved from table {move.left} to table {move.to} ({by.en})",
        zh=f"由{move.left}台转至{move.to}台（{by.zh}）",
    )


def _ruling_words(row: RulingRow) -> Words:
    who = SEAT_NAMES.get(row.seat or "") or SIDE_NAMES[row.side]
    penalty = catalogue_words("penalty", row.penalty)
    what, where = find_offence(row.offence), f" {row.article}" if row.article else ""
    name = f" {row.person}" if row.person else ""
    return Words(
        f"deal {row.deal}: {who.en}{name}, {what.en}: {penalty.en}{where} ({row.ruling})",
        f"第{row.deal}副：{who.zh}{name}，{what.zh}：{penalty.zh}{where}({row.ruling})",
    )


def _shift_words(row: ShiftRow) -> Words:
    who, steps = SIDE_NAMES[row.side], level_change_words(row.steps)
    return Words(f"{who.en}, {steps.en} (ruling {row.ruling})", f"{who.zh}{steps.zh}({row.ruling})")


def _leader_words(row: LeaderRow) -> Words:
    who = SEAT_NAMES[row.leader]
    return Words(
        f"after the forfeited deal {row.deal}: {who.en} is named as leader",
        f"第{row.deal}副判负后，指定{who.zh}领出牌",
    )


def _stopped_words(row: StoppedRow) -> Words:
    why = _STOP_REASONS.get(row.reason, Words(row.reason, row.reason))
    return Words(f"deal {row.deal} does not count: {why.en}", f"第{row.deal}副终止不计：{why.zh}")


_STOP_REASONS = {
    "match_lost": Words("the match is lost by a ruling", "本局判负"),
    "void_later": Words("an earlier result was corrected", "更正前副成绩，其后作废"),
}
"""The reasons of deals that ended without a person's reason."""


def _redealt_words(row: RedealtRow) -> Words:
    who, wrong = decided_by_words(row.by, row.entered_by), Words("the count was wrong", "张数不符")
    why = Words(row.reason, row.reason) if row.claimed is None else wrong
    return Words(
        f"deal {row.deal} is dealt again: {why.en}, by {who.en}",
        f"第{row.deal}副重新发牌：{why.zh}({who.zh})",
    )


_NOTES: dict[type[SheetRowBase], Callable[[Any], Words]] = {
    RulingRow: _ruling_words,
    ShiftRow: _shift_words,
    LeaderRow: _leader_words,
    OverturnedRow: lambda row: Words(
        f"ruling {row.ruling} is overturned", f"裁定{row.ruling}已改判，不再计"
    ),
    StoppedRow: _stopped_words,
    RedealtRow: _redealt_words,
}


def _rows_of(sheet: Sheet, kind: type[Any]) -> Iterator[Any]:
    return (row for row in sheet if isinstance(row, kind))

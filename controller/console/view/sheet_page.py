"""A score sheet (记分表) as a page and as a CSV file.

The browser draws the page from the sheet that the table sent (controller/sheet). This module adds
what a browser cannot know, and makes the file for a spreadsheet.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

import msgspec

from controller.faults import Language
from controller.messages import PublicState, Seat
from controller.rules.key_text import all_keys
from controller.seats import SEAT_LETTERS, SEATS, SIDE_NAMES, SIGNER_NAMES
from controller.sheet.form import BigTwoLine, CardPassed, DealLine, ScoreSheet
from controller.sheet.printed_sheet import (
    SHEET_LABELS,
    confirmation_words,
    correction_reason,
    rules_words,
)
from controller.words import Words, decided_by_words

_FORMULA_SIGNS: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
"""Characters that begin a formula in a spreadsheet. Some also accept the full-width forms."""


class SheetPageView(msgspec.Struct, frozen=True, kw_only=True):
    """A score sheet, and the facts that a page shows beside it.

    `provisional`: the parts of its points that no rule text defines. `corrected`: the source of
    each correction, in the order of the sheet. `kept_ms`: when the console stored this sheet
    (milliseconds since 1970), or null if a table has just sent it. `kept`: the stored versions that
    can be opened.
    """

    sheet: ScoreSheet
    provisional: list[Words] = []
    corrected: list["CorrectionSource"] = []
    kept_ms: int | None = None
    kept: list["StoredVersion"] = []


class CorrectionSource(msgspec.Struct, frozen=True, kw_only=True):
    """The people who corrected a result, and their reason.

    `by`: who decided it, and who entered the chief's oral decision. `reason`: why, in words.
    `confirmed`: the state of the chief's confirmation, or None if the correction was made in
    writing.
    """

    by: Words
    reason: Words
    confirmed: Words | None


class StoredVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a score sheet in the console's store.

    `signed`: its number of signatures. `kept_ms`: when it was stored.
    """

    table: str
    version: int
    signed: int
    kept_ms: int


def with_wall_times(sheet: ScoreSheet, state: PublicState | None) -> ScoreSheet:
    """Return a sheet with the dates and times of its match's start and end, computed from `state`.

    A sheet has times of the table's own clock. A state of the same match has both clocks. Without
    such a state, the sheet is returned unchanged. The times are in whole seconds. Source: R10.
    """
    if state is None or sheet.start_at is not None or state.match.at_ms is None:
        return sheet
    if (state.table, state.match.match) != (sheet.table, sheet.match):
        return sheet
    try:
        now, at_ms = datetime.fromisoformat(state.time), state.match.at_ms
        start, end = (
            None
            if ms is None
            else (now + timedelta(milliseconds=ms - at_ms)).isoformat("T", "seconds")
            for ms in (sheet.start_ms, sheet.end_ms)
        )
    except (ValueError, OverflowError):  # No table writes such a stamp.
        return sheet
    return msgspec.structs.replace(sheet, start_at=start, end_at=end)


def build_sheet_view(
    sheet: ScoreSheet, kept: Sequence[StoredVersion] = (), kept_ms: int | None = None
) -> SheetPageView:
    """Return a sheet with the facts that a page shows beside it. `kept`: its stored versions."""
    known, named = all_keys(), () if sheet.score is None else sheet.score.provisional
    return SheetPageView(
        sheet=sheet,
        provisional=[known[key].label if key in known else Words(key, key) for key in named],
        corrected=[
            CorrectionSource(
                by=decided_by_words(one.by, one.entered_by),
                reason=correction_reason(one),
                confirmed=confirmation_words(one),
            )
            for one in sheet.corrections
        ],
        kept_ms=kept_ms,
        kept=list(kept),
    )


def sheet_csv(sheet: ScoreSheet, language: Language, zone: tzinfo | None = None) -> str:
    """Return the sheet as CSV that Excel opens directly, with one row for each deal.

    The text begins with the mark of UTF-8 and has the line ends of Excel. No cell is a formula.
    `zone`: the time zone of all times. None is this computer's.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    table = _SheetRows(sheet, language, zone)
    writer.writerows([safe_cell(cell) for cell in row] for row in table.rows())
    return "\ufeff" + out.getvalue()


def safe_cell(cell: object) -> str:
    """Return a cell's text, with ' before it if a spreadsheet would run the text as a formula."""
    text = "" if cell is None else str(cell)
    is_formula = not isinstance(cell, int) and text.startswith(_FORMULA_SIGNS)
    return f"'{text}" if is_formula else text


def sheet_file_name(sheet: ScoreSheet, suffix: str) -> str:
    """Return a file name for a sheet. All its characters are allowed in every file system."""
    said = f"sheet-{sheet.match}-v{sheet.version}"
    return re.sub(r"[^A-Za-z0-9_.-]", "_", said) + suffix


class _SheetRows:
    """The rows of one sheet in one language."""

    def __init__(self, sheet: ScoreSheet, language: Language, zone: tzinfo | None) -> None:
        self.sheet, self._language, self._zone = sheet, language, zone

    def rows(self) -> Iterator[list[object]]:
        """Yield the heading, then a row for each deal."""
        match = [cell(self) for cell in _MATCH_COLUMNS.values()]
        headings = map(self.label, _DEAL_COLUMNS)
        yield [
            *map(self.label, _MATCH_COLUMNS),
            *(self._hand_headings() if self.sheet.game == "bigtwo" else headings),
        ]
        for hand in self.sheet.hands:
            yield [*match, *self._hand_cells(hand)]
        for line in self.sheet.deals:
            yield [*match, *(cell(self, line) for cell in _DEAL_COLUMNS.values())]

    def label(self, label: str) -> str:
        return self.text(_FILE_LABELS.get(label) or SHEET_LABELS[label]).strip(" :：")

    def text(self, words: Words) -> str:
        return words.zh if self._language == "zh" else words.en

    def seat(self, seat: str | None) -> str | None:
        return None if seat is None else self.text(SEAT_LETTERS[seat])

    def place(self, line: DealLine, place: int) -> str | None:
        order = line.outcome.order
        return self.seat(order[place]) if place < len(order) else None

    def yes_if(self, holds: bool) -> str | None:
        return self.label("yes") if holds else None

    def moment(self, stamp: str | None) -> str | None:
        """Return a stamp as 2026-11-27 18:45 in the sheet's time zone, or None if it is None."""
        if stamp is None:
            return None
        try:
            return datetime.fromisoformat(stamp).astimezone(self._zone).strftime("%Y-%m-%d %H:%M")
        except (ValueError, OverflowError):  # No table writes such a stamp.
            return stamp

    def passed_cards(self, cards: Sequence[CardPassed]) -> str:
        return self.joined(
            f"{self.seat(one.giver)}→{self.seat(one.to)} "
            f"{one.card or self.label('hidden' if one.secret else 'untold')}"
            for one in cards
        )

    def penalties(self, line: DealLine) -> str:
        told = []
        for one in line.penalties:
            who = self.text(SIGNER_NAMES[one.seat or one.side])
            what = self.text(Words(one.penalty_en, one.penalty_zh))
            overturned = self.label("overturned") if one.overturned else ""
            told.append(" ".join(filter(None, (who, what, one.article, overturned))))
        return self.joined(told)

    def joined(self, parts: Iterable[str]) -> str:
        return ("；" if self._language == "zh" else "; ").join(parts)

    def _hand_headings(self) -> list[str]:
        seats = [self.text(SEAT_LETTERS[seat]) for seat in SEATS]
        heads = [self.label("deal"), self.label("leader")]
        for name in ("left", "score", "total"):
            heads += [f"{seat} {self.label(name)}" for seat in seats]
        return [*heads, *map(self.label, ("opened", "doubled", "by_hand", "misdeals"))]

    def _hand_cells(self, hand: BigTwoLine) -> list[object]:
        numbers: Iterable[dict[Seat, int]] = (hand.left, hand.scores, hand.totals)
        return [
            hand.deal,
            self.seat(hand.leader),
            *(each[seat] for each in numbers for seat in SEATS),
            self.joined(self.text(SEAT_LETTERS[seat]) for seat in hand.opened),
            self.joined(self.text(SEAT_LETTERS[seat]) for seat in hand.doubled),
            self.yes_if(hand.by_hand),
            hand.misdeals,
        ]


_MATCH_COLUMNS: Final[Mapping[str, Callable[[_SheetRows], object]]] = {
    "event": lambda rows: rows.sheet.event,
    "round": lambda rows: rows.sheet.round,
    "match": lambda rows: rows.sheet.match_no,
    "table": lambda rows: rows.sheet.table_no,
    "rules": lambda rows: rows.text(rules_words(rows.sheet.rules)),
    "start": lambda rows: rows.moment(rows.sheet.start_at),
    "end": lambda rows: rows.moment(rows.sheet.end_at),
    "ns_id": lambda rows: rows.sheet.pairs["NS"].id,
    "ns_name": lambda rows: rows.sheet.pairs["NS"].name,
    "ew_id": lambda rows: rows.sheet.pairs["EW"].id,
    "ew_name": lambda rows: rows.sheet.pairs["EW"].name,
    "version": lambda rows: rows.sheet.version,
    "signature": lambda rows: rows.label("signed" if rows.sheet.state == "signed" else "unsigned"),
}
"""The columns that describe the match, by their labels."""
_DEAL_COLUMNS: Final[Mapping[str, Callable[[_SheetRows, DealLine], object]]] = {
    "deal": lambda rows, line: line.deal,
    "level": lambda rows, line: line.level,
    "up": lambda rows, line: rows.place(line, 0),
    "second": lambda rows, line: rows.place(line, 1),
    "third": lambda rows, line: rows.place(line, 2),
    "last": lambda rows, line: rows.place(line, 3),
    "forfeit": lambda rows, line: (
        line.outcome.forfeited_by and rows.text(SIDE_NAMES[line.outcome.forfeited_by])
    ),
    "gain": lambda rows, line: line.gain,
    "ns_level": lambda rows, line: (line.levels or {}).get("NS"),
    "ew_level": lambda rows, line: (line.levels or {}).get("EW"),
    "ns_points": lambda rows, line: (line.points or {}).get("NS"),
    "ew_points": lambda rows, line: (line.points or {}).get("EW"),
    "tribute": lambda rows, line: (
        rows.label("anti") if line.anti else rows.passed_cards(line.tribute)
    ),
    "returns": lambda rows, line: rows.passed_cards(line.returns),
    "leader": lambda rows, line: rows.seat(line.leader),
    "turned_up": lambda rows, line: line.turned_up,
    "cutter": lambda rows, line: rows.label("uncut") if line.uncut else rows.seat(line.cutter),
    "cut": lambda rows, line: line.cut,
    "void": lambda rows, line: rows.yes_if(not line.counts),
    "corrected": lambda rows, line: rows.yes_if(line.corrected),
    "written": lambda rows, line: line.written and f"{line.written['NS']} / {line.written['EW']}",
    "by_hand": lambda rows, line: rows.yes_if(line.by_hand),
    "extra": lambda rows, line: rows.yes_if(line.extra),
    "misdeals": lambda rows, line: line.misdeals,
    "penalties": lambda rows, line: rows.penalties(line),
}
"""The columns that describe a deal of Guandan, by their labels."""
_FILE_LABELS: Final = {
    "ns_id": Words("NS pair", "南北队号"),
    "ns_name": Words("NS name", "南北队名"),
    "ew_id": Words("EW pair", "东西队号"),
    "ew_name": Words("EW name", "东西队名"),
    "level": Words("Level played", "打几"),
    "forfeit": Words("Forfeited by", "判负方"),
    "gain": Words("Levels won", "升级"),
    "ns_level": Words("NS level", "南北级数"),
    "ew_level": Words("EW level", "东西级数"),
    "ns_points": Words("NS points", "南北得分"),
    "ew_points": Words("EW points", "东西得分"),
    "leader": Words("Leader", "领出"),
    "cutter": Words("Cut by", "切牌者"),
    "cut": Words("Cut", "切牌数"),
    "corrected": Words("Corrected", "已更正"),
    "penalties": Words("Penalties", "判罚"),
    "left": Words("cards left", "余牌"),
    "score": Words("score", "得分"),
    "unsigned": Words("not signed", "未签"),
    "yes": Words("yes", "是"),
}
"""Labels that the printed sheet does not have, or words differently."""

"""A score sheet (记分表) as a page and as a CSV file.

The browser draws the page from the sheet that the table sent (controller/sheet). This module adds
what a browser cannot know, and makes the file for a spreadsheet.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Any, Final

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
_BOM: Final = "\ufeff"


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
    """The source of a corrected result.

    `by`: who decided it, and who entered the chief's oral decision. `reason`: why, in words.
    `confirmed`: the state of the chief's confirmation, or None if the correction was made in
    writing.
    """

    by: Words
    reason: Words
    confirmed: Words | None


class StoredVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A stored sheet. `signed`: its number of signatures. `kept_ms`: when it was stored."""

    table: str
    version: int
    signed: int
    kept_ms: int


def parse_sheet(raw: Any) -> ScoreSheet:
    """Return the sheet in a table's answer. Raises msgspec.ValidationError."""
    return msgspec.convert(raw, ScoreSheet)


def with_wall_times(sheet: ScoreSheet, state: PublicState | None) -> ScoreSheet:
    """Return a sheet with the wall-clock times of its match's start and end, in whole seconds.

    A sheet has times of the table's own clock. A state of the same match contains both clocks.
    Source: R10.
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
    except (ValueError, OverflowError):  # not a stamp that a table writes
        return sheet
    return msgspec.structs.replace(sheet, start_at=start, end_at=end)


def build_sheet_view(
    sheet: ScoreSheet, kept: Sequence[StoredVersion] = (), kept_ms: int | None = None
) -> SheetPageView:
    """Return a score sheet together with the facts that a page shows beside it."""
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
    """Return the sheet as CSV that Excel opens directly, with one row a deal.

    The text begins with the mark of UTF-8 and has the line ends of Excel. No cell is a formula.
    `zone`: the time zone of all times. None is this computer's.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    table = _SheetRows(sheet, language, zone)
    writer.writerows([safe_cell(cell) for cell in row] for row in table.rows())
    return _BOM + out.getvalue()


def safe_cell(cell: object) -> str:
    """Return a cell that a spreadsheet does not run as a formula. A number stays a number."""
    if cell is None:
        return ""
    text = str(cell)
    if isinstance(cell, int):
        return text
    return f"'{text}" if text.startswith(_FORMULA_SIGNS) else text


def sheet_file_name(sheet: ScoreSheet, suffix: str) -> str:
    """Return a file name for a sheet, with characters that every system accepts."""
    said = f"sheet-{sheet.match}-v{sheet.version}"
    return re.sub(r"[^A-Za-z0-9_.-]", "_", said) + suffix


class _SheetRows:
    """The rows of one sheet in one language."""

    def __init__(self, sheet: ScoreSheet, language: Language, zone: tzinfo | None) -> None:
        self._sheet, self._language, self._zone = sheet, language, zone

    def rows(self) -> Iterator[list[object]]:
        """Yield the heading, then a row for each deal."""
        big_two = self._sheet.game == "bigtwo"
        yield [
            *map(self._label, _MATCH_COLUMNS),
            *(self._hand_headings() if big_two else map(self._label, _DEAL_COLUMNS)),
        ]
        for hand in self._sheet.hands:
            yield [*self._match_cells(), *self._hand_cells(hand)]
        for line in self._sheet.deals:
            yield [*self._match_cells(), *self._deal_cells(line)]

    def _label(self, label: str) -> str:
        return self._in(_FILE_LABELS.get(label) or SHEET_LABELS[label]).strip(" :：")

    def _in(self, words: Words) -> str:
        return words.zh if self._language == "zh" else words.en

    def _seat(self, seat: str | None) -> str | None:
        return None if seat is None else self._in(SEAT_LETTERS[seat])

    def _yes_if(self, holds: bool) -> str | None:
        return self._label("yes") if holds else None

    def _match_cells(self) -> list[object]:
        sheet = self._sheet
        ns, ew = sheet.pairs["NS"], sheet.pairs["EW"]
        return [
            sheet.event,
            sheet.round,
            sheet.match_no,
            sheet.table_no,
            self._in(rules_words(sheet.rules)),
            self._moment(sheet.start_at),
            self._moment(sheet.end_at),
            ns.id,
            ns.name,
            ew.id,
            ew.name,
            sheet.version,
            self._label("signed" if sheet.state == "signed" else "unsigned"),
        ]

    def _moment(self, stamp: str | None) -> str | None:
        """Return a time stamp as a spreadsheet shows it, for example 2026-11-27 18:45."""
        if stamp is None:
            return None
        try:
            return datetime.fromisoformat(stamp).astimezone(self._zone).strftime("%Y-%m-%d %H:%M")
        except (ValueError, OverflowError):  # not a stamp that a table writes
            return stamp

    def _deal_cells(self, line: DealLine) -> list[object]:
        levels, points = line.levels or {}, line.points or {}
        places = [self._seat(seat) for seat in line.outcome.order]
        lost = line.outcome.forfeited_by
        return [
            line.deal,
            line.level,
            *places,
            *[None] * (4 - len(places)),
            None if lost is None else self._in(SIDE_NAMES[lost]),
            line.gain,
            levels.get("NS"),
            levels.get("EW"),
            points.get("NS"),
            points.get("EW"),
            self._label("anti") if line.anti else self._passed_cards(line.tribute),
            self._passed_cards(line.returns),
            self._seat(line.leader),
            line.turned_up,
            self._label("uncut") if line.uncut else self._seat(line.cutter),
            line.cut,
            self._yes_if(not line.counts),
            self._yes_if(line.corrected),
            f"{line.written['NS']} / {line.written['EW']}" if line.written else None,
            self._yes_if(line.by_hand),
            self._yes_if(line.extra),
            line.misdeals,
            self._joined(self._penalty_texts(line)),
        ]

    def _passed_cards(self, cards: Sequence[CardPassed]) -> str:
        return self._joined(
            f"{self._seat(one.giver)}→{self._seat(one.to)} "
            f"{one.card or self._label('hidden' if one.secret else 'untold')}"
            for one in cards
        )

    def _penalty_texts(self, line: DealLine) -> Iterator[str]:
        for one in line.penalties:
            who = self._in(SIGNER_NAMES[one.seat or one.side])
            words = [who, self._in(Words(one.penalty_en, one.penalty_zh)), one.article or ""]
            back = self._label("overturned") if one.overturned else ""
            yield " ".join(filter(None, [*words, back]))

    def _joined(self, parts: Iterable[str]) -> str:
        return ("；" if self._language == "zh" else "; ").join(parts)

    def _hand_headings(self) -> list[str]:
        seats = [self._in(SEAT_LETTERS[seat]) for seat in SEATS]
        heads = [self._label("deal"), self._label("leader")]
        for name in ("left", "score", "total"):
            heads += [f"{seat} {self._label(name)}" for seat in seats]
        return [*heads, *map(self._label, ("opened", "doubled", "by_hand", "misdeals"))]

    def _hand_cells(self, hand: BigTwoLine) -> list[object]:
        numbers: Iterable[dict[Seat, int]] = (hand.left, hand.scores, hand.totals)
        return [
            hand.deal,
            self._seat(hand.leader),
            *(each[seat] for each in numbers for seat in SEATS),
            self._joined(self._in(SEAT_LETTERS[seat]) for seat in hand.opened),
            self._joined(self._in(SEAT_LETTERS[seat]) for seat in hand.doubled),
            self._yes_if(hand.by_hand),
            hand.misdeals,
        ]


_MATCH_COLUMNS: Final = (
    "event",
    "round",
    "match",
    "table",
    "rules",
    "start",
    "end",
    "ns_id",
    "ns_name",
    "ew_id",
    "ew_name",
    "version",
    "signature",
)
_DEAL_COLUMNS: Final = (
    "deal",
    "level",
    "up",
    "second",
    "third",
    "last",
    "forfeit",
    "gain",
    "ns_level",
    "ew_level",
    "ns_points",
    "ew_points",
    "tribute",
    "returns",
    "leader",
    "turned_up",
    "cutter",
    "cut",
    "void",
    "corrected",
    "written",
    "by_hand",
    "extra",
    "misdeals",
    "penalties",
)
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

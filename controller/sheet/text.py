"""The score sheet as a page of plain text, in Chinese or English, to be printed and signed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from controller.faults import Language
from controller.messages import Seat
from controller.rules.columns import cells, packed, wrapped
from controller.rules.keys import all_keys
from controller.rules.seat_words import SIDES, SIGNERS
from controller.rules.seats import ALL
from controller.rules.seats import SIDES as BOTH
from controller.rules.words import Words
from controller.sheet.form import (
    BigTwoLine,
    DealLine,
    Outcome,
    Passed,
    ScoreSheet,
    Signed,
)
from controller.sheet.words import LABELS, confirmed, reason, rules_words
from controller.signer_names import whose

WIDTH = 80
"""Cells of the longest line: it fits a terminal and a sheet of paper."""

_INDENT = "    "
_BLANK = "____________________"
_NAMED = {
    "N": Words("North", "北"),
    "W": Words("West", "西"),
    "S": Words("South", "南"),
    "E": Words("East", "东"),
}
_SEAT = {"N": Words("N", "北"), "W": Words("W", "西"), "S": Words("S", "南"), "E": Words("E", "东")}
_HASH = 16
"""Digits of a hash or a journal's head that are printed."""


def sheet_text(sheet: Mapping[str, Any], language: Language) -> str:
    """Return the page of a sheet (sheet_view.sheet).

    Raises msgspec.ValidationError, a ValueError, for what is no sheet.
    """
    whole = msgspec.convert(sheet, ScoreSheet)
    return "".join(f"{line}\n" for line in _Page(whole, language).lines())


class _Page:
    """One sheet in one language."""

    def __init__(self, sheet: ScoreSheet, language: Language) -> None:
        self._sheet, self._language = sheet, language

    def lines(self) -> Iterator[str]:
        title = self._("title_big_two" if self._sheet.game == "bigtwo" else "title")
        yield " " * ((WIDTH - cells(title)) // 2) + title
        yield "─" * WIDTH
        yield from self._head()
        yield "─" * WIDTH
        yield from self._hands() if self._sheet.game == "bigtwo" else self._deals()
        yield "─" * WIDTH
        yield from self._between()
        yield from self._result()
        yield "─" * WIDTH
        yield from self._signatures()

    def _(self, label: str) -> str:
        return self._in(LABELS[label])

    def _in(self, words: Words) -> str:
        return words.zh if self._language == "zh" else words.en

    def _seat(self, seat: Seat) -> str:
        return self._in(_SEAT[seat])

    def _named(self, seats: Sequence[Seat]) -> str:
        """Seats in running words: a column alone has their letters."""
        return self._("between_seats").join(self._in(_NAMED[seat]) for seat in seats)

    def _pair(self, label: str, value: object) -> str:
        return f"{self._(label)} {value}"

    # -- the head --------------------------------------------------------------

    def _head(self) -> Iterator[str]:
        sheet = self._sheet
        yield from packed(
            [
                self._pair("event", sheet.event),
                self._pair("round", sheet.round),
                self._pair("match", f"{sheet.match_no} ({sheet.match})"),
                self._pair("table", f"{sheet.table_no} ({sheet.table})"),
                self._("stage_" + sheet.stage),
            ],
            WIDTH,
        )
        rules = self._pair("rules", self._in(rules_words(sheet.rules)))
        yield from packed([rules, self._pair("hash", sheet.rules.hash[:_HASH])], WIDTH)
        for side in BOTH:
            pair = sheet.pairs[side]
            people = [
                f"{self._seat(seat)} {pair.players.get(seat, '—')}" for seat in ALL if seat in side
            ]
            number = self._pair("pair", pair.id)
            yield from packed([self._in(SIDES[side]), number, pair.name, *people], WIDTH)
        yield from packed(self._times(), WIDTH)

    def _times(self) -> list[str]:
        sheet = self._sheet
        parts = [
            self._pair("start", sheet.start_at or "—"),
            self._pair("end", sheet.end_at or "—"),
        ]
        if sheet.start_ms is not None and sheet.end_ms is not None:
            parts.append(self._pair("took", _span(sheet.end_ms - sheet.start_ms)))
        return parts

    # -- the deals -------------------------------------------------------------

    def _deals(self) -> Iterator[str]:
        points = any(line.points and any(line.points.values()) for line in self._sheet.deals)
        heads = [self._(name) for name in _COLUMNS] + ([self._("points")] if points else [])
        rows = [self._deal(line, points) for line in self._sheet.deals]
        yield from _table(heads, rows, [self._remarks(line) for line in self._sheet.deals])

    def _deal(self, line: DealLine, points: bool) -> list[str]:
        levels = line.levels or {}
        mark = "*" if line.corrected else "" if line.counts else "×"
        ours = f"{line.points['NS']}:{line.points['EW']}" if line.points else ""
        return [
            f"{line.deal}{mark}",
            line.level,
            *self._places(line),
            "—" if line.gain is None else f"+{line.gain}" if line.gain >= 0 else str(line.gain),
            levels.get("NS", "—"),
            levels.get("EW", "—"),
            self._("anti") if line.anti else self._passed(line.tribute),
            self._passed(line.returns),
            *([ours] if points else []),
        ]

    def _places(self, line: DealLine) -> list[str]:
        """The four places; of a double-down the losers have none."""
        there = [self._seat(seat) for seat in line.outcome.order]
        return [*there, *["—"] * (4 - len(there))]

    def _passed(self, cards: Sequence[Passed]) -> str:
        return self._("list").join(
            f"{self._seat(one.giver)}→{self._seat(one.to)}"
            f"{self._('before_card')}{one.card or self._('hidden' if one.secret else 'untold')}"
            for one in cards
        )

    def _remarks(self, line: DealLine) -> str:
        """What the columns have no room for."""
        told = []
        if line.outcome.forfeited_by is not None:
            told.append(self._outcome(line.outcome))
        if line.leader is not None:
            told.append(self._pair("leader", self._named([line.leader])))
        if line.turned_up is not None:
            told.append(self._pair("turned_up", line.turned_up))
        if line.cut is not None:
            cutter = self._named([line.cutter] if line.cutter else [])
            told.append(self._pair("cut", f"{cutter} {line.cut}"))
        flags = {
            "uncut": line.uncut,
            "by_hand": line.by_hand,
            "extra": line.extra,
            "void": not line.counts,
        }
        told += [self._(name) for name, holds in flags.items() if holds]
        if line.misdeals:
            told.append(self._pair("misdeals", line.misdeals))
        if line.dead:
            told.append(self._pair("dead", self._named(line.dead)))
        if line.written:
            told.append(self._pair("written", f"{line.written['NS']}:{line.written['EW']}"))
        told += [
            f"{self._in(SIGNERS[one.seat or one.side])} "
            f"{self._in(Words(one.penalty_en, one.penalty_zh))}"
            f"{' ' + one.article if one.article else ''}"
            f"{self._('overturned') if one.overturned else ''}"
            for one in line.penalties
        ]
        return self._("comma").join(told)

    def _hands(self) -> Iterator[str]:
        heads = [self._("deal"), *(self._seat(seat) for seat in ALL), self._("total")]
        rows = [self._hand(line) for line in self._sheet.hands]
        yield from _table(heads, rows, [self._told(line) for line in self._sheet.hands])

    def _hand(self, line: BigTwoLine) -> list[str]:
        scores = [f"{line.left[seat]} ({line.scores[seat]:+d})" for seat in ALL]
        return [str(line.deal), *scores, " ".join(f"{line.totals[seat]:+d}" for seat in ALL)]

    def _told(self, line: BigTwoLine) -> str:
        told = [self._pair("leader", self._named([line.leader]))]
        told += [self._pair("opened", self._named(line.opened))] if line.opened else []
        told += [self._pair("doubled", self._named(line.doubled))] if line.doubled else []
        told += [self._("uncut")] if line.uncut else []
        told += [self._("by_hand")] if line.by_hand else []
        told += [self._pair("misdeals", line.misdeals)] if line.misdeals else []
        return self._("comma").join(told)

    # -- what stands below -------------------------------------------------------

    def _between(self) -> Iterator[str]:
        sheet = self._sheet
        if sheet.corrections:
            yield self._("corrections")
        for one in sheet.corrections:
            was, now = self._outcome(one.was), self._outcome(one.now)
            stands = confirmed(one)
            by = self._in(whose(one.by, one.entered_by))
            yield from _hanging(
                f"{self._pair('deal', one.deal)}: {was} → {now}, {self._('choice_' + one.choice)}, "
                f"{by}: {self._in(reason(one))}"
                f"{'' if stands is None else self._('comma') + self._in(stands)}"
            )
        if sheet.notes:
            yield self._("notes")
        for note in sheet.notes:
            yield from _hanging(self._in(Words(note.en, note.zh)))

    def _outcome(self, outcome: Outcome) -> str:
        if outcome.forfeited_by is None:
            return self._named(outcome.order)
        return f"{self._in(SIDES[outcome.forfeited_by])}{self._('forfeits')}"

    def _result(self) -> Iterator[str]:
        sheet, told = self._sheet, []
        if sheet.levels:
            told.append(self._pair("levels", self._by_side(sheet.levels)))
        if sheet.verdict is not None:
            end = sheet.verdict
            winner = self._in(SIDES[end.winner]) + " " if end.winner else ""
            told.append(
                self._pair("verdict", f"{winner}({self._in(Words(end.how_en, end.how_zh))})")
            )
        elif sheet.state == "open":
            told.append(self._("open"))
        if sheet.totals:
            scores = "  ".join(f"{self._seat(seat)} {sheet.totals[seat]:+d}" for seat in ALL)
            told.append(self._pair("total", scores))
        yield from packed(told, WIDTH)
        yield from packed(self._points(), WIDTH)

    def _points(self) -> list[str]:
        score = self._sheet.score
        if score is None:
            return []
        told = []
        for name in ("match_points", "level_points", "deal_points", "total"):
            numbers = getattr(score, name)
            if numbers is not None:
                told.append(self._pair(name, self._by_side(numbers)))
        labels = [self._in(all_keys()[key].label) for key in score.provisional]
        if labels:
            told.append(f"{self._('provisional')}{self._('comma').join(labels)}")
        return told

    def _by_side(self, numbers: Mapping[Any, object]) -> str:
        return "  ".join(f"{self._in(SIDES[side])} {numbers[side]}" for side in BOTH)

    def _signatures(self) -> Iterator[str]:
        sheet = self._sheet
        for line in sheet.signatures:
            duty = "" if line.duty is None else self._(line.duty)
            who = self._in(SIGNERS[line.signer]) + duty
            yield f"{self._('signature')} {who}: {self._signed(line)}"
        for version in sheet.versions:
            names = [f"{self._in(SIGNERS[one.signer])} {one.person}" for one in version.signatures]
            signed = self._("comma").join(names) or self._("unsigned")
            rows = self._pair("sheet_rows", version.rows)
            yield from wrapped(
                f"{self._pair('version', version.version)} ({rows}): {signed}", WIDTH
            )
        yield self._pair("head", sheet.head[:_HASH])

    def _signed(self, line: Signed) -> str:
        return _BLANK if line.person is None else f"{line.person} ({self._('signed')})"


def _table(heads: list[str], rows: list[list[str]], remarks: list[str]) -> Iterator[str]:
    """Yield rows in columns as wide as their widest text, each with its remarks below."""
    widths = [max(map(cells, column)) for column in zip(heads, *rows, strict=True)]
    roomy = sum(widths) + 2 * (len(widths) - 1) <= WIDTH
    gap = "  " if roomy else " "
    yield _row(heads, widths, gap)
    for row, remark in zip(rows, remarks, strict=True):
        yield _row(row, widths, gap)
        if remark:
            yield from _hanging(remark)


def _row(texts: Sequence[str], widths: Sequence[int], gap: str) -> str:
    padded = (text + " " * (width - cells(text)) for text, width in zip(texts, widths, strict=True))
    return gap.join(padded).rstrip()


def _hanging(text: str) -> Iterator[str]:
    for line in wrapped(text, WIDTH - len(_INDENT)):
        yield _INDENT + line


def _span(ms: int) -> str:
    """Return a time as hours, minutes and seconds."""
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"


_COLUMNS = (
    "deal",
    "level",
    "up",
    "second",
    "third",
    "last",
    "gain",
    "ns",
    "ew",
    "tribute",
    "returns",
)

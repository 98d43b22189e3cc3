"""The printed score sheet: a page of plain text, in English or in Chinese."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from controller.faults import Language
from controller.messages import Seat
from controller.rules.key_text import all_keys
from controller.rules.text_columns import cell_width, pack, wrap
from controller.seats import SEAT_LETTERS, SEAT_NAMES, SEATS, SIDE_NAMES, SIGNER_NAMES
from controller.seats import SIDES as BOTH
from controller.sheet.form import (
    BigTwoLine,
    CardPassed,
    DealLine,
    DealOutcome,
    ScoreSheet,
    SheetCorrection,
    SheetRules,
)
from controller.words import Words, decided_by_words, signer_words


def rules_words(rules: SheetRules) -> Words:
    """Return the title of the rulebook, followed by the title of its tournament if there is one."""
    en, zh = ((rules.title_en, rules.event_en), (rules.title_zh, rules.event_zh))
    return Words(" · ".join(filter(None, en)), " · ".join(filter(None, zh)))


def confirmation_words(one: SheetCorrection) -> Words | None:
    """Return a text that shows whether the verbal decision behind a correction is confirmed.

    The confirmation is in writing. Return None for a correction without a verbal decision.
    """
    if one.confirmed_by is not None:
        by = signer_words(one.confirmed_by)
        return Words(f"confirmed by {by.en}", f"{by.zh}已书面确认")
    if one.entered_by is None:
        return None
    return Words("not confirmed in writing yet", "待书面确认")


def correction_reason(one: SheetCorrection) -> Words:
    """Return the reason for a correction in English and Chinese.

    A reason that a person wrote is the same text in both languages.
    """
    return Words(one.reason, one.reason_zh or one.reason)


SHEET_LABELS: dict[str, Words] = {
    "title": Words("Guandan score sheet", "掼蛋记分表"),
    "title_big_two": Words("Big Two score sheet (practice)", "锄大地记分表(练习)"),
    "event": Words("Event", "比赛"),
    "round": Words("Round", "轮次"),
    "match": Words("Match", "局"),
    "table": Words("Table", "台号"),
    "stage_swiss": Words("Swiss", "积分编排"),
    "stage_round_robin": Words("round robin", "循环赛"),
    "stage_knockout": Words("knock-out", "淘汰赛"),
    "rules": Words("Rules", "规则"),
    "hash": Words("hash", "规则校验码"),
    "pair": Words("pair", "队号"),
    "start": Words("Start", "开始"),
    "end": Words("End", "结束"),
    "took": Words("took", "历时"),
    "deal": Words("Deal", "副"),
    "level": Words("Lvl", "打"),
    "up": Words("UP", "上游"),
    "second": Words("2ND", "二游"),
    "third": Words("3RD", "三游"),
    "last": Words("LAST", "下游"),
    "gain": Words("Up", "升级"),
    "ns": Words("NS", "南北"),
    "ew": Words("EW", "东西"),
    "tribute": Words("Tribute", "贡牌"),
    "returns": Words("Return", "还牌"),
    "points": Words("Points", "得分"),
    "anti": Words("anti", "抗贡"),
    "hidden": Words("hidden", "暗"),
    "untold": Words("not noted", "未记"),
    "leader": Words("leads:", "领出"),
    "turned_up": Words("turned up", "翻牌"),
    "cut": Words("cut:", "切牌"),
    "uncut": Words("uncut", "未切牌"),
    "by_hand": Words("dealt by hand", "人工发牌"),
    "extra": Words("extra deal", "加打一副"),
    "void": Words("does not count", "作废"),
    "misdeals": Words("misdeals:", "重新发牌次数"),
    "dead": Words("dead hand:", "手牌作废"),
    "written": Words("levels as first written", "原记级数"),
    "overturned": Words(" (overturned)", "(已改判)"),
    "forfeits": Words(" forfeits", "判负"),
    "list": Words(", ", " "),
    "between_seats": Words(", ", "、"),
    "before_card": Words(" ", ""),
    "comma": Words(", ", "，"),
    "opened": Words("open:", "明牌"),
    "doubled": Words("doubled:", "加倍"),
    "corrections": Words("Corrections", "更正"),
    "notes": Words("Rulings and notes", "判罚与记事"),
    "choice_from_now": Words("counts from now on", "自更正起计"),
    "choice_void_later": Words("later deals void", "其后各副作废"),
    "choice_stand": Words("unchanged", "维持原计"),
    "levels": Words("Levels", "级数"),
    "verdict": Words("Result", "结果"),
    "open": Words("not over yet", "本局未结束"),
    "match_points": Words("Match points", "场分"),
    "level_points": Words("Level points", "级分"),
    "deal_points": Words("Deal points", "副分"),
    "total": Words("Total", "总分"),
    "provisional": Words("provisional: ", "暂定："),
    "scorer": Words(" (scorer)", "(记分)"),
    "checker": Words(" (checker)", "(监督)"),
    "signature": Words("Signature", "签名"),
    "signed": Words("signed", "已签"),
    "unsigned": Words("not signed", "未签名"),
    "version": Words("Version", "版本"),
    "sheet_rows": Words("rows", "行数"),
    "head": Words("Journal head", "日志头"),
}
"""Every text of the page, by its label."""


PAGE_WIDTH = 80
"""Cells of the longest line. The line fits a terminal and a sheet of paper."""

_INDENT = "    "
_SIGNATURE_BLANK = "____________________"
_SEAT_NAMES = {seat: Words(SEAT_NAMES[seat].en, SEAT_LETTERS[seat].zh) for seat in SEATS}
_COLUMNS = (
    *("deal", "level", "up", "second", "third", "last"),
    *("gain", "ns", "ew", "tribute", "returns"),
)
_HASH_DIGITS = 16
"""The number of printed digits of a hash or a journal head."""


def render_sheet(sheet: Mapping[str, Any], language: Language) -> str:
    """Return the printed page of the score sheet `sheet` as plain text in `language`.

    `sheet` is the JSON form of ScoreSheet. Raises msgspec.ValidationError, a ValueError, for input
    that is no sheet.
    """
    whole = msgspec.convert(sheet, ScoreSheet)
    return "".join(f"{line}\n" for line in _Page(whole, language).lines())


class _Page:
    """The printed page of one score sheet, in one language."""

    def __init__(self, sheet: ScoreSheet, language: Language) -> None:
        self._sheet, self._language = sheet, language

    def lines(self) -> Iterator[str]:
        title = self._label("title_big_two" if self._sheet.game == "bigtwo" else "title")
        yield " " * ((PAGE_WIDTH - cell_width(title)) // 2) + title
        yield "─" * PAGE_WIDTH
        yield from self._header()
        yield "─" * PAGE_WIDTH
        yield from self._big_two_table() if self._sheet.game == "bigtwo" else self._deal_table()
        yield "─" * PAGE_WIDTH
        yield from self._corrections_and_notes()
        yield from self._result()
        yield "─" * PAGE_WIDTH
        yield from self._signatures()

    def _label(self, label: str) -> str:
        return self._in_language(SHEET_LABELS[label])

    def _in_language(self, words: Words) -> str:
        return words.zh if self._language == "zh" else words.en

    def _seat_letter(self, seat: Seat) -> str:
        return self._in_language(SEAT_LETTERS[seat])

    def _seat_names(self, seats: Sequence[Seat]) -> str:
        """Return the names of `seats` (not their letters) as one text."""
        return self._label("between_seats").join(
            self._in_language(_SEAT_NAMES[seat]) for seat in seats
        )

    def _labelled(self, label: str, value: object) -> str:
        return f"{self._label(label)} {value}"

    def _facts(self, facts: Mapping[str, object]) -> list[str]:
        """Return one text for each fact in `facts`: the label of its name, then its value.

        If the value is True, the text is only the label. Items with an empty value are left out.
        """
        return [
            self._label(label) if value is True else self._labelled(label, value)
            for label, value in facts.items()
            if value
        ]

    # -- the heading -----------------------------------------------------------

    def _header(self) -> Iterator[str]:
        sheet = self._sheet
        yield from pack(
            [
                self._labelled("event", sheet.event),
                self._labelled("round", sheet.round),
                self._labelled("match", f"{sheet.match_no} ({sheet.match})"),
                self._labelled("table", f"{sheet.table_no} ({sheet.table})"),
                self._label("stage_" + sheet.stage),
            ],
            PAGE_WIDTH,
        )
        rules = self._labelled("rules", self._in_language(rules_words(sheet.rules)))
        yield from pack(
            [rules, self._labelled("hash", sheet.rules.hash[:_HASH_DIGITS])], PAGE_WIDTH
        )
        for side in BOTH:
            pair = sheet.pairs[side]
            seats = [seat for seat in SEATS if seat in side]
            people = [f"{self._seat_letter(seat)} {pair.players.get(seat, '—')}" for seat in seats]
            number = self._labelled("pair", pair.id)
            yield from pack(
                [self._in_language(SIDE_NAMES[side]), number, pair.name, *people], PAGE_WIDTH
            )
        times = [
            self._labelled("start", sheet.start_at or "—"),
            self._labelled("end", sheet.end_at or "—"),
        ]
        if sheet.start_ms is not None and sheet.end_ms is not None:
            minutes, seconds = divmod((sheet.end_ms - sheet.start_ms) // 1000, 60)
            hours, minutes = divmod(minutes, 60)
            times.append(self._labelled("took", f"{hours}:{minutes:02d}:{seconds:02d}"))
        yield from pack(times, PAGE_WIDTH)

    # -- the deals -------------------------------------------------------------

    def _deal_table(self) -> Iterator[str]:
        points = any(line.points and any(line.points.values()) for line in self._sheet.deals)
        heads = [self._label(name) for name in _COLUMNS] + (
            [self._label("points")] if points else []
        )
        rows = [self._deal_row(line, points) for line in self._sheet.deals]
        yield from _table(heads, rows, [self._remarks(line) for line in self._sheet.deals])

    def _deal_row(self, line: DealLine, points: bool) -> list[str]:
        levels = line.levels or {}
        places = [self._seat_letter(seat) for seat in line.outcome.order]
        mark = "*" if line.corrected else "" if line.counts else "×"
        ours = f"{line.points['NS']}:{line.points['EW']}" if line.points else ""
        return [
            f"{line.deal}{mark}",
            line.level,
            *places,
            *["—"] * (4 - len(places)),  # After a double-down the losers have no place.
            "—" if line.gain is None else f"+{line.gain}" if line.gain >= 0 else str(line.gain),
            levels.get("NS", "—"),
            levels.get("EW", "—"),
            self._label("anti") if line.anti else self._cards_passed(line.tribute),
            self._cards_passed(line.returns),
            *([ours] if points else []),
        ]

    def _cards_passed(self, cards: Sequence[CardPassed]) -> str:
        return self._label("list").join(
            f"{self._seat_letter(one.giver)}→{self._seat_letter(one.to)}"
            f"{self._label('before_card')}"
            f"{one.card or self._label('hidden' if one.secret else 'untold')}"
            for one in cards
        )

    def _remarks(self, line: DealLine) -> str:
        """Return the text below a deal's row: facts of the deal that have no column, or ""."""
        cutter = self._seat_names([line.cutter] if line.cutter else [])
        told = [] if line.outcome.forfeited_by is None else [self._outcome_text(line.outcome)]
        told += self._facts(
            {
                "leader": line.leader and self._seat_names([line.leader]),
                "turned_up": line.turned_up,
                "cut": None if line.cut is None else f"{cutter} {line.cut}",
                "uncut": line.uncut,
                "by_hand": line.by_hand,
                "extra": line.extra,
                "void": not line.counts,
                "misdeals": line.misdeals,
                "dead": self._seat_names(line.dead),
                "written": line.written and f"{line.written['NS']}:{line.written['EW']}",
            }
        )
        told += [
            f"{self._in_language(SIGNER_NAMES[one.seat or one.side])} "
            f"{self._in_language(Words(one.penalty_en, one.penalty_zh))}"
            f"{' ' + one.article if one.article else ''}"
            f"{self._label('overturned') if one.overturned else ''}"
            for one in line.penalties
        ]
        return self._label("comma").join(told)

    def _big_two_table(self) -> Iterator[str]:
        heads = [
            self._label("deal"),
            *(self._seat_letter(seat) for seat in SEATS),
            self._label("total"),
        ]
        rows = [
            [
                str(line.deal),
                *(f"{line.left[seat]} ({line.scores[seat]:+d})" for seat in SEATS),
                " ".join(f"{line.totals[seat]:+d}" for seat in SEATS),
            ]
            for line in self._sheet.hands
        ]
        yield from _table(heads, rows, [self._big_two_remarks(line) for line in self._sheet.hands])

    def _big_two_remarks(self, line: BigTwoLine) -> str:
        facts = {
            "leader": self._seat_names([line.leader]),
            "opened": self._seat_names(line.opened),
            "doubled": self._seat_names(line.doubled),
            "uncut": line.uncut,
            "by_hand": line.by_hand,
            "misdeals": line.misdeals,
        }
        return self._label("comma").join(self._facts(facts))

    # -- the part below the deals -----------------------------------------------

    def _corrections_and_notes(self) -> Iterator[str]:
        sheet = self._sheet
        if sheet.corrections:
            yield self._label("corrections")
        for one in sheet.corrections:
            was, now = self._outcome_text(one.was), self._outcome_text(one.now)
            stands = confirmation_words(one)
            by = self._in_language(decided_by_words(one.by, one.entered_by))
            yield from _indented(
                f"{self._labelled('deal', one.deal)}: {was} → {now}, "
                f"{self._label('choice_' + one.choice)}, "
                f"{by}: {self._in_language(correction_reason(one))}"
                f"{'' if stands is None else self._label('comma') + self._in_language(stands)}"
            )
        if sheet.notes:
            yield self._label("notes")
        for note in sheet.notes:
            yield from _indented(self._in_language(Words(note.en, note.zh)))

    def _outcome_text(self, outcome: DealOutcome) -> str:
        if outcome.forfeited_by is None:
            return self._seat_names(outcome.order)
        return f"{self._in_language(SIDE_NAMES[outcome.forfeited_by])}{self._label('forfeits')}"

    def _result(self) -> Iterator[str]:
        sheet, told = self._sheet, []
        if sheet.levels:
            told.append(self._labelled("levels", self._side_values(sheet.levels)))
        if sheet.verdict is not None:
            end = sheet.verdict
            winner = self._in_language(SIDE_NAMES[end.winner]) + " " if end.winner else ""
            told.append(
                self._labelled(
                    "verdict", f"{winner}({self._in_language(Words(end.how_en, end.how_zh))})"
                )
            )
        elif sheet.state == "open":
            told.append(self._label("open"))
        if sheet.totals:
            scores = "  ".join(
                f"{self._seat_letter(seat)} {sheet.totals[seat]:+d}" for seat in SEATS
            )
            told.append(self._labelled("total", scores))
        yield from pack(told, PAGE_WIDTH)
        if sheet.score is None:
            return
        points = []
        for name in ("match_points", "level_points", "deal_points", "total"):
            numbers = getattr(sheet.score, name)
            if numbers is not None:
                points.append(self._labelled(name, self._side_values(numbers)))
        labels = [self._in_language(all_keys()[key].label) for key in sheet.score.provisional]
        if labels:
            points.append(f"{self._label('provisional')}{self._label('comma').join(labels)}")
        yield from pack(points, PAGE_WIDTH)

    def _side_values(self, numbers: Mapping[Any, object]) -> str:
        return "  ".join(f"{self._in_language(SIDE_NAMES[side])} {numbers[side]}" for side in BOTH)

    def _signatures(self) -> Iterator[str]:
        sheet = self._sheet
        for line in sheet.signatures:
            duty = "" if line.duty is None else self._label(line.duty)
            who = self._in_language(SIGNER_NAMES[line.signer]) + duty
            signed = f"{line.person} ({self._label('signed')})"
            name = _SIGNATURE_BLANK if line.person is None else signed
            yield f"{self._label('signature')} {who}: {name}"
        for version in sheet.versions:
            names = [
                f"{self._in_language(SIGNER_NAMES[one.signer])} {one.person}"
                for one in version.signatures
            ]
            signed = self._label("comma").join(names) or self._label("unsigned")
            rows = self._labelled("sheet_rows", version.rows)
            yield from wrap(
                f"{self._labelled('version', version.version)} ({rows}): {signed}", PAGE_WIDTH
            )
        yield self._labelled("head", sheet.head[:_HASH_DIGITS])


def _table(titles: list[str], rows: list[list[str]], remarks: list[str]) -> Iterator[str]:
    """Yield the lines of a text table: the column titles, then each row and the remark below it.

    Each column is as wide as its widest text. An empty remark gets no line.
    """
    widths = [max(map(cell_width, column)) for column in zip(titles, *rows, strict=True)]
    roomy = sum(widths) + 2 * (len(widths) - 1) <= PAGE_WIDTH
    gap = "  " if roomy else " "
    yield _row(titles, widths, gap)
    for row, remark in zip(rows, remarks, strict=True):
        yield _row(row, widths, gap)
        if remark:
            yield from _indented(remark)


def _row(texts: Sequence[str], widths: Sequence[int], gap: str) -> str:
    padded = (
        text + " " * (width - cell_width(text)) for text, width in zip(texts, widths, strict=True)
    )
    return gap.join(padded).rstrip()


def _indented(text: str) -> Iterator[str]:
    for line in wrap(text, PAGE_WIDTH - len(_INDENT)):
        yield _INDENT + line

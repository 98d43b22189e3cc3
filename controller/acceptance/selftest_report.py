"""The report of a self-test, as JSON for programs and as a page in two languages for people."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from controller.acceptance.selftest_figures import (
    FigureVerdict,
    SelftestFigure,
    machine_parts,
    worst_verdict,
)
from controller.faults import fault
from controller.messages import ProgramRelease
from drivers.board_events import BoardKind
from drivers.link.frames import HardwareKind, Welcome

REPORT_SCHEMA: Final = 1
_VERDICT_MARKS: Final[Mapping[FigureVerdict, str]] = {
    "pass": "✓ 合格 pass",
    "warn": "! 注意 warn",
    "fail": "✕ 不合格 FAIL",
    "not measured": "– 未测 not measured",
}


class ReportedBoard(msgspec.Struct, frozen=True):
    """The data that a board sent about itself when its serial session began.

    `fed` and `landed` count all cards since the board's first use.
    """

    id: str
    hal: HardwareKind
    firmware: str
    firmware_hash: str
    protocol: str
    settings_crc: str
    fed: int
    landed: int


class SelftestReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of one self-test: the table, its boards, all measured values and the verdict.

    `time`: the start (UTC). `seconds`: the duration. `verdict` is the worst verdict of the figures,
    and a figure that is not measured counts as a warning. `release`: the release of the program,
    None without a manifest. No figure contains a face.
    """

    schema: int = REPORT_SCHEMA
    table: str
    simulated: bool
    time: str
    seconds: float
    program: str
    release: ProgramRelease | None
    boards: dict[BoardKind, ReportedBoard]
    verdict: FigureVerdict
    figures: tuple[SelftestFigure, ...]

    @property
    def failed_parts(self) -> tuple[str, ...]:
        """Return the parts of the machine with a failure, in the order of the report."""
        return self._parts_with("fail")

    @property
    def warned_parts(self) -> tuple[str, ...]:
        """Return the parts of the machine with a warning, in the order of the report."""
        return self._parts_with("warn")

    def _parts_with(self, verdict: FigureVerdict) -> tuple[str, ...]:
        found = (figure.part for figure in self.figures if figure.verdict == verdict)
        return tuple(dict.fromkeys(found))


def build_report(
    figures: tuple[SelftestFigure, ...],
    welcomes: Mapping[BoardKind, Welcome],
    *,
    table: str,
    simulated: bool,
    time: str,
    seconds: float,
    program: str,
    release: ProgramRelease | None = None,
) -> SelftestReport:
    """Return the report of a finished self-test. `welcomes`: the first answer of each board."""
    return SelftestReport(
        table=table,
        simulated=simulated,
        time=time,
        seconds=round(seconds, 1),
        program=program,
        release=release,
        boards={
            board: ReportedBoard(
                id=welcome.uid,
                hal=welcome.hal,
                firmware=welcome.firmware,
                firmware_hash=welcome.firmware_hash,
                protocol=welcome.protocol,
                settings_crc=f"{welcome.settings_crc:08x}",
                fed=welcome.fed,
                landed=welcome.landed,
            )
            for board, welcome in welcomes.items()
        },
        verdict=worst_verdict(figures),
        figures=figures,
    )


def report_page(report: SelftestReport) -> str:
    """Return the report as a page in Markdown.

    Failures and warnings come first, then every figure, then the boards.
    """
    return "\n".join(_page_lines(report)) + "\n"


def _page_lines(report: SelftestReport) -> Iterator[str]:
    simulated = "（模拟 simulated）" if report.simulated else ""
    yield f"# 整机自检 Self-test: {report.table}{simulated}"
    yield ""
    yield f"**{_VERDICT_MARKS[report.verdict]}** · {report.time} · {report.seconds:.0f} s"
    for verdict in ("fail", "warn"):
        found = [figure for figure in report.figures if figure.verdict == verdict]
        if found:
            yield ""
            yield f"## {_VERDICT_MARKS[verdict]}"
        for figure in found:
            yield ""
            limit, part = figure.limit, machine_parts()[figure.part]
            known = fault(limit.fault)
            yield f"### {part.zh} {part.en}"
            yield ""
            yield f"* {limit.zh} / {limit.en}: **{value_text(figure)}** ({limit_text(figure)})"
            if figure.note:
                yield f"* {_cell_text(figure.note)}"
            yield f"* 处理：{limit.do_zh}"
            yield f"* Do: {limit.do_en}"
            yield (
                f"* 发牌时的故障 in a deal: {known.code} {known.name}：{known.action_zh} / "
                f"{known.action_en}"
            )
    yield from _table_lines(report)
    yield from _board_lines(report)


def _table_lines(report: SelftestReport) -> Iterator[str]:
    yield ""
    yield "## 全部数据 All figures"
    yield ""
    yield "| 部件 part | 项目 what | 结果 figure | 限值 limits | |"
    yield "|---|---|---|---|---|"
    for figure in report.figures:
        limit, part = figure.limit, machine_parts()[figure.part]
        note = f" ({_cell_text(figure.note)})" if figure.note else ""
        yield (
            f"| {part.zh} {part.en} | {limit.zh}<br>{limit.en} | {value_text(figure)}{note} "
            f"| {limit_text(figure)} | {_VERDICT_MARKS[figure.verdict]} |"
        )


def _board_lines(report: SelftestReport) -> Iterator[str]:
    yield ""
    yield "## 控制板与程序 Boards and program"
    yield ""
    yield "| | id | hal | firmware | settings_crc | fed | landed |"
    yield "|---|---|---|---|---|---|---|"
    for board, said in report.boards.items():
        yield (
            f"| {board} | {said.id} | {said.hal} | {said.firmware} ({said.firmware_hash}) "
            f"| {said.settings_crc} | {said.fed} | {said.landed} |"
        )
    release = report.release
    of = f"{release.version}, {release.serial}, {release.hash}" if release else "no manifest"
    yield ""
    yield f"程序 program: {report.program} ({of})"


def value_text(figure: SelftestFigure) -> str:
    """Return the value of a figure with its unit, or a dash if the figure has no value."""
    return "–" if figure.value is None else f"{figure.value:g} {figure.unit}"


def limit_text(figure: SelftestFigure) -> str:
    """Return the limits of a measured value as text for people."""
    sign = "≤" if figure.limit.sense == "most" else "≥"
    if figure.warn == figure.fail:
        return f"{sign} {figure.fail:g}"
    return f"{sign} {figure.warn:g}, 不合格 fail: {sign} {figure.fail:g}"


def _cell_text(note: str) -> str:
    return note.replace("|", "/").replace("\n", " ")

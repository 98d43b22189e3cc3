"""The report of a test run: one HTML page for printing, in Chinese and English."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final, Literal

import msgspec

from hil_tests.harness.measurements import QUANTITIES, Measurement

ScenarioVerdict = Literal["passed", "failed", "skipped", "not run"]

_VERDICT_TEXTS: Final[Mapping[str, str]] = {
    "passed": "合格 passed",
    "failed": "不合格 FAILED",
    "skipped": "未测 skipped",
    "not run": "未运行 not run",
}
_NOTHING: Final = "<p>无 none</p>"
_STYLE: Final = """
@page { size: A4;
  margin: 16mm 14mm 18mm;
  @bottom-right { content: counter(page) " / " counter(pages);
    font: 9px sans-serif } }
body { font: 14px/1.45 "Noto Sans CJK SC", "Noto Sans", sans-serif;
  margin: 2em auto;
  max-width: 62em;
  color: #111 }
h1 { font-size: 1.5em;
  margin-bottom: 0 }
h2 { font-size: 1.15em;
  margin-top: 2em;
  border-bottom: 1px solid #888;
  break-after: avoid }
h3 { font-size: 1em;
  margin: 1.4em 0 .2em;
  break-after: avoid }
table { border-collapse: collapse;
  width: 100%;
  margin: .5em 0 }
th, td { text-align: left;
  vertical-align: top;
  padding: .25em .6em;
  border: 1px solid #bbb;
  overflow-wrap: break-word }
thead { display: table-header-group }
tr { break-inside: avoid }
th { background: #eee;
  font-weight: 600 }
td.n { text-align: right;
  font-variant-numeric: tabular-nums;
  white-space: nowrap }
.passed { color: #06600f }
.failed { color: #a40000;
  font-weight: 700 }
.skipped,
.not-run { color: #666 }
.verdict { font-size: 1.2em;
  padding: .5em 1em;
  border: 2px solid;
  display: inline-block }
pre { white-space: pre-wrap;
  background: #f6f6f6;
  padding: .6em;
  margin: .3em 0 }
ol, ul { margin: .3em 0 }
p.note { color: #444;
  margin: .3em 0 }
section { break-inside: avoid }
a { color: inherit }
.signed { margin-top: 3em;
  break-inside: avoid }
.signed td { height: 2.5em }
@media print { body { margin: 0;
  max-width: none;
  font-size: 10px } }
"""


class ScenarioResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one scenario.

    `why` is the reason of a failure or a skip, for people. `took_s` is wall time.
    """

    name: str
    verdict: ScenarioVerdict
    took_s: float = 0.0
    why: str = ""
    steps: tuple[str, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    numbers: Mapping[str, float] = {}

    @property
    def title(self) -> str:
        """The scenario's name as a sentence, followed by its pytest parameters in brackets."""
        name, bracket, given = self.name.rpartition("::")[2].partition("[")
        words = name.removeprefix("test_").replace("_", " ")
        about = f" [{given}" if bracket else ""
        return words[:1].upper() + words[1:] + about

    @property
    def group(self) -> str:
        """The name of the scenario's test file, as words for a heading."""
        words = self.name.partition("::")[0].rpartition("/")[2].removesuffix(".py")
        return words.removeprefix("test_").replace("_", " ").capitalize()


class ScenarioRun(msgspec.Struct, frozen=True, kw_only=True):
    """The data of a whole run for its report page.

    `began` and `ended` are times as text. `about` has names and values about the target.
    """

    began: str
    ended: str
    about: Mapping[str, str]
    scenarios: tuple[ScenarioResult, ...]
    broken: str | None = None

    @property
    def verdict(self) -> ScenarioVerdict:
        """The result of the run: `passed` if a scenario passed and none failed, else `failed`.

        A scenario with the verdict `not run`, or a text in `broken`, counts as a failure.
        """
        seen = {scenario.verdict for scenario in self.scenarios}
        if "failed" in seen or "not run" in seen or self.broken is not None:
            return "failed"
        return "passed" if "passed" in seen else "failed"


def render_page(run: ScenarioRun) -> str:
    """Return the report of a run as one HTML page that loads no other file."""
    title = "测试报告 Test report"
    equipment = (("开始 began", run.began), ("结束 ended", run.ended), *run.about.items())
    parts = (
        f"<h1>{title}</h1><p>自动发牌桌 dealtable · {escape(run.about.get('target', ''))} · "
        f"{escape(run.began)}</p>",
        _summary(run),
        "<h2>被测设备与条件 Equipment and conditions</h2>",
        _table((), ((escape(key), escape(value)) for key, value in equipment)),
        _overview(run),
        _measurements(run),
        _counters(run),
        "<h2>各项过程 Scenarios in detail</h2>",
        *(_detail(number, one) for number, one in enumerate(run.scenarios, 1)),
        '<div class="signed">'
        + _table(
            ("", "姓名 name", "签字与日期 signature, date"),
            (
                ("操作员 operator", escape(run.about.get("operator", "")), ""),
                ("审核 checked by", "", ""),
            ),
        )
        + "</div>",
    )
    return (
        f'<!doctype html>\n<html lang="zh">\n<head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _summary(run: ScenarioRun) -> str:
    """Return the summary as HTML: the verdict, counts, failed scenarios and skipped scenarios."""
    verdicts = [scenario.verdict for scenario in run.scenarios]
    judged = [one.is_within_limit for each in run.scenarios for one in each.measurements]
    rows = (
        *(
            (_verdict_text(each), str(verdicts.count(each)))
            for each in _VERDICT_TEXTS
            if each in verdicts
        ),
        ("项目总数 scenarios in all", str(len(verdicts))),
        ("合格的测量值 measurements within limits", str(judged.count(True))),
        (_colored("failed", "超限的测量值 measurements out of limits"), str(judged.count(False)))
        if False in judged
        else ("超限的测量值 measurements out of limits", "0"),
        ("仅记录的测量值 measurements kept, not judged", str(judged.count(None))),
        ("用时 took (s)", f"{sum(scenario.took_s for scenario in run.scenarios):.0f}"),
    )
    return (
        f'<p class="verdict {run.verdict}">{_VERDICT_TEXTS[run.verdict]}</p>'
        + (f'<p class="failed">{escape(run.broken)}</p>' if run.broken else "")
        + "<h2>摘要 Summary</h2>"
        + _table((), rows)
        + _reason_table(run, "不合格项 What failed", ("failed", "not run"))
        + _reason_table(run, "未测项及原因 What was not shown, and why", ("skipped",))
    )


def _reason_table(run: ScenarioRun, title: str, verdicts: tuple[ScenarioVerdict, ...]) -> str:
    """Return an HTML table of the scenarios with one of `verdicts`, grouped by reason.

    Return "" if there is no such scenario.
    """
    by_reason: dict[str, list[str]] = {}
    for number, one in enumerate(run.scenarios, 1):
        if one.verdict in verdicts:
            link = f'<a href="#s{number}">{number}. {escape(one.title)}</a>'
            by_reason.setdefault(_first_line(one.why), []).append(link)
    if not by_reason:
        return ""
    rows = ((escape(why), "<br/>".join(links)) for why, links in by_reason.items())
    return f"<h3>{title}</h3>" + _table(("原因 reason", "项目 scenarios"), rows)


def _overview(run: ScenarioRun) -> str:
    heads = ("#", "项目 scenario", "结论 verdict", "原因 reason", "s")
    groups: dict[str, list[tuple[str, ...]]] = {}
    for number, one in enumerate(run.scenarios, 1):
        row = (
            str(number),
            f'<a href="#s{number}">{escape(one.title)}</a>',
            _verdict_text(one.verdict),
            escape(_first_line(one.why)),
            f"{one.took_s:.1f}",
        )
        groups.setdefault(one.group, []).append(row)
    tables = (f"<h3>{escape(name)}</h3>" + _table(heads, rows) for name, rows in groups.items())
    return "<h2>结论 Results</h2>" + "".join(tables)


def _measurements(run: ScenarioRun) -> str:
    rows = [
        (
            f"{QUANTITIES[one.name].zh} {QUANTITIES[one.name].en}",
            f'<a href="#s{number}">{escape(scenario.title)}</a>',
            f"{one.value:g}",
            f"{'≥' if one.is_minimum else '≤'}\N{NO-BREAK SPACE}{one.limit:g}",
            escape(one.unit),
            _judgement(one),
        )
        for number, scenario in enumerate(run.scenarios, 1)
        for one in scenario.measurements
    ]
    heads = (
        "量 quantity",
        "项目 scenario",
        "实测 measured",
        "限值 limit",
        "单位 unit",
        "结论 verdict",
    )
    note = (
        "限值只在实机上判定；模拟机上只判计数和协议时限，其余仅记录。"
        " Limits are judged on a bench; on simulated boards only counts, and in virtual time "
        "the protocol's own limits: other values are kept, not judged."
    )
    return f'<h2>测量值 Measurements</h2><p class="note">{note}</p>' + (
        _table(heads, sorted(rows)) if rows else _NOTHING
    )


def _counters(run: ScenarioRun) -> str:
    sums: dict[str, float] = {}
    for scenario in run.scenarios:
        for name, value in scenario.numbers.items():
            sums[name] = sums.get(name, 0.0) + value
    rows = ((escape(name), f"{value:g}") for name, value in sorted(sums.items()))
    note = (
        "全部项目之和；线路计数后为控制板名。未说明原因的线路计数变动即为不合格。"
        " Sums over all scenarios; a counter of a line has its board's name. "
        "One that moved without a reason fails its scenario."
    )
    return f'<h2>计数 Counters</h2><p class="note">{note}</p>' + (
        _table(("计数 counter", "n"), rows) if sums else _NOTHING
    )


def _detail(number: int, one: ScenarioResult) -> str:
    head = f"<h3>{number}. {escape(one.title)}</h3>"
    verdict = f"<p>{_verdict_text(one.verdict)}, {one.took_s:.1f} s</p>"
    why = f"<pre>{escape(one.why)}</pre>" if one.why else ""
    steps = "".join(f"<li>{escape(step)}</li>" for step in one.steps)
    taken = "".join(f"<li>{escape(str(each))}</li>" for each in one.measurements)
    moved = ", ".join(f"{name} {value:g}" for name, value in sorted(one.numbers.items()))
    return (
        f'<section id="s{number}">{head}{verdict}{why}'
        + (f"<p>步骤 Steps</p><ol>{steps}</ol>" if steps else "")
        + (f"<p>测量 Measurements</p><ul>{taken}</ul>" if taken else "")
        + (f'<p class="note">计数 Counters: {escape(moved)}</p>' if moved else "")
        + "</section>"
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{each}</th>" for each in heads)
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f"<table>{top}\n<tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    number = text.removeprefix("-").replace(".", "", 1).isdigit()
    return f'<td class="n">{text}</td>' if number else f"<td>{text}</td>"


def _judgement(one: Measurement) -> str:
    if one.is_within_limit is None:
        return _colored("skipped", "仅记录 kept, not judged")
    return _verdict_text("passed" if one.is_within_limit else "failed")


def _verdict_text(verdict: ScenarioVerdict) -> str:
    return _colored(verdict.replace(" ", "-"), _VERDICT_TEXTS[verdict])


def _colored(css: str, text: str) -> str:
    return f'<span class="{css}">{text}</span>'


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""

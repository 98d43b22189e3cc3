"""A run as one page for people: a test house's report, in Chinese and English, to print.

Pure: values in, text out. The page needs nothing beside itself.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final, Literal

import msgspec

from hil_tests.measuring import QUANTITIES, Measurement

Verdict = Literal["passed", "failed", "skipped", "not run"]

_WORDS: Final[Mapping[str, str]] = {
    "passed": "合格 passed",
    "failed": "不合格 FAILED",
    "skipped": "未测 skipped",
    "not run": "未运行 not run",
}
_STYLE: Final = """
body { font: 14px/1.45 "Noto Sans CJK SC", "Noto Sans", sans-serif;
  margin: 2em auto;
  max-width: 60em;
  color: #111 }
h1 { font-size: 1.5em;
  margin-bottom: 0 }
h2 { font-size: 1.15em;
  margin-top: 2em;
  border-bottom: 1px solid #888 }
table { border-collapse: collapse;
  width: 100%;
  margin: .5em 0 }
th, td { text-align: left;
  vertical-align: top;
  padding: .25em .6em;
  border: 1px solid #bbb }
th { background: #eee;
  font-weight: 600 }
td.n { text-align: right;
  font-variant-numeric: tabular-nums }
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
ol { margin: .3em 0 }
section { break-inside: avoid-page }
.signed { margin-top: 3em }
.signed td { height: 2.5em }
@media print { body { margin: 0;
  max-width: none;
  font-size: 11px }
h2 { break-after: avoid }
}
"""


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario as it went. `why`: of a failure or a skip, for people; `took_s` by the wall."""

    name: str
    verdict: Verdict
    took_s: float = 0.0
    why: str = ""
    steps: tuple[str, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    numbers: Mapping[str, float] = {}

    @property
    def title(self) -> str:
        """Its name as a sentence."""
        words = self.name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
        return words[:1].upper() + words[1:]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run: when it began and ended (text), where, with whom, and what came of it."""

    began: str
    ended: str
    about: Mapping[str, str]
    scenarios: tuple[Scenario, ...]
    broken: str | None = None

    @property
    def verdict(self) -> Verdict:
        """Failed where anything failed, or where nothing was shown."""
        seen = {scenario.verdict for scenario in self.scenarios}
        if "failed" in seen or "not run" in seen or self.broken is not None:
            return "failed"
        return "passed" if "passed" in seen else "failed"


def page(run: Run) -> str:
    """Return the page of a run, whole and without anything to load."""
    title = "测试报告 Test report"
    parts = (
        f"<h1>{title}</h1><p>自动发牌桌 dealtable</p>",
        f'<p class="verdict {run.verdict}">{_WORDS[run.verdict]}</p>',
        f'<p class="failed">{escape(run.broken)}</p>' if run.broken else "",
        _who(run),
        _overview(run),
        _measured(run),
        _counted(run),
        "<h2>各项过程 Scenarios in detail</h2>",
        *(_detail(number, one) for number, one in enumerate(run.scenarios, 1)),
        _signed(run),
    )
    return (
        f'<!doctype html>\n<html lang="zh">\n<head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _who(run: Run) -> str:
    rows = [("开始 began", run.began), ("结束 ended", run.ended), *run.about.items()]
    return "<h2>被测设备与条件 Equipment and conditions</h2>" + _table(
        (), ((escape(key), escape(value)) for key, value in rows)
    )


def _overview(run: Run) -> str:
    verdicts = [scenario.verdict for scenario in run.scenarios]
    sums = ", ".join(
        f"{_WORDS[each]}: {verdicts.count(each)}" for each in _WORDS if each in verdicts
    )
    rows = (
        (
            str(number),
            f'<a href="#s{number}">{escape(one.title)}</a>',
            f'<span class="{_css(one.verdict)}">{_WORDS[one.verdict]}</span>',
            escape(_first_line(one.why)),
            f"{one.took_s:.1f}",
        )
        for number, one in enumerate(run.scenarios, 1)
    )
    heads = ("#", "项目 scenario", "结论 verdict", "原因 reason", "s")
    return f"<h2>结论 Results</h2><p>{sums}</p>" + _table(heads, rows)


def _measured(run: Run) -> str:
    rows = [
        (
            f"{QUANTITIES[one.name].zh} {QUANTITIES[one.name].en}",
            escape(scenario.title),
            f"{one.value:g}",
            f"{'≥' if one.least else '≤'} {one.limit:g}",
            escape(one.unit),
            _judged(one),
        )
        for scenario in run.scenarios
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
    return "<h2>测量值 Measurements</h2>" + (_table(heads, sorted(rows)) if rows else _none())


def _counted(run: Run) -> str:
    sums: dict[str, float] = {}
    for scenario in run.scenarios:
        for name, value in scenario.numbers.items():
            sums[name] = sums.get(name, 0.0) + value
    rows = ((escape(name), f"{value:g}") for name, value in sorted(sums.items()))
    return "<h2>计数 Counters</h2>" + (_table(("计数 counter", "n"), rows) if sums else _none())


def _detail(number: int, one: Scenario) -> str:
    head = f"<h3>{number}. {escape(one.title)}</h3>"
    verdict = f'<p class="{_css(one.verdict)}">{_WORDS[one.verdict]}</p>'
    why = f"<pre>{escape(one.why)}</pre>" if one.why else ""
    steps = "".join(f"<li>{escape(step)}</li>" for step in one.steps)
    taken = "".join(f"<li>{escape(str(each))}</li>" for each in one.measurements)
    return (
        f'<section id="s{number}">{head}{verdict}{why}'
        + (f"<p>步骤 Steps</p><ol>{steps}</ol>" if steps else "")
        + (f"<p>测量 Measurements</p><ul>{taken}</ul>" if taken else "")
        + "</section>"
    )


def _signed(run: Run) -> str:
    rows = (
        ("操作员 operator", escape(run.about.get("operator", "")), ""),
        ("审核 checked by", "", ""),
    )
    return (
        '<div class="signed">'
        + _table(("", "姓名 name", "签字与日期 signature, date"), rows)
        + "</div>"
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{each}</th>" for each in heads)
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if head else ''}\n{body}</table>"


def _cell(text: str) -> str:
    number = text.replace(".", "", 1).isdigit()
    return f'<td class="n">{text}</td>' if number else f"<td>{text}</td>"


def _judged(one: Measurement) -> str:
    if one.right is None:
        return '<span class="skipped">仅记录 kept, not judged</span>'
    verdict: Verdict = "passed" if one.right else "failed"
    return f'<span class="{verdict}">{_WORDS[verdict]}</span>'


def _css(verdict: Verdict) -> str:
    return verdict.replace(" ", "-")


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else ""


def _none() -> str:
    return "<p>无 none</p>"

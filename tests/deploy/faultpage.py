"""deploy/FAULTS.md and its Chinese twin: fault-finding, from the catalogue.

What happened and what to do first are the catalogue's; which part it may be and what comes then
stand in faults.toml beside this file, with the self-test's figures that tell of it.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

from controller.faults import CatalogueFault, Language, fault_catalogue

ROOT: Final = Path(__file__).parents[2]
PAGES: Final[Mapping[Language, Path]] = {
    "en": ROOT / "deploy" / "FAULTS.md",
    "zh": ROOT / "deploy" / "FAULTS.zh-CN.md",
}
REFUSALS_FROM: Final = 901
"""Faults from this code on refuse an order; the machine has nothing."""
_MORE: Final = Path(__file__).with_name("faults.toml")
_PAGE: Final = re.compile(r"\b[A-Z]+\.md\b")
_PLACES: Final = {"PROTOCOL.md": "../drivers/link/PROTOCOL.md"}
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "figure": (". Self-test: ", "。自检："),
    "nothing": ("—", "—"),
    "by_code": ("By code", "按代码"),
    "by_symptom": ("By symptom", "按现象"),
    "bars": ("the set is barred until it is counted", "牌套停用，清点后解除"),
}


@cache
def more() -> Mapping[str, Any]:
    """Return what is said beyond the catalogue."""
    return tomllib.loads(_MORE.read_text("utf-8"))


@cache
def _figures() -> Mapping[str, Any]:
    told = resources.files("controller").joinpath("acceptance/limits.toml").read_text("utf-8")
    return tomllib.loads(told)


def parts() -> Mapping[str, list[str]]:
    """Return every part of a table by its name, in English and Chinese."""
    return {**_figures()["part"], **more()["part"]}


def symptom(fault: CatalogueFault) -> str:
    """Return the key of the symptom. Raises KeyError if faults.toml has no row."""
    if fault.code >= REFUSALS_FROM:
        return "refused"
    return str(more()["fault"][fault.name]["symptom"])


def page(language: Language) -> str:
    """Return the whole page in one language."""
    n = 0 if language == "en" else 1
    blocks = [more()["head"][language].strip(), f"## {_WORDS['by_symptom'][n]}"]
    names = more()["symptom"]
    links = [f"* [{words[n]}](#{_anchor(words[n])})" for words in names.values()]
    blocks.append("\n".join(links))
    for name, words in names.items():
        found = [fault for fault in fault_catalogue().values() if symptom(fault) == name]
        rows = [_row(fault, language) for fault in found]
        head = _COLUMNS[language]
        rule = "|".join(["---"] * (head.count("|") - 1))
        blocks.append(f"### {words[n]}\n\n{head}\n|{rule}|\n" + "\n".join(rows))
    blocks.append(f"## {_WORDS['by_code'][n]}\n\n{_index(language)}")
    return "\n\n".join(blocks) + "\n"


_COLUMNS: Final[Mapping[Language, str]] = {
    "en": "| code | what happened | details | first | then | part | repaired by |",
    "zh": "| 代码 | 原因 | 随附信息 | 先做 | 再做 | 部位 | 由谁处理 |",
}


def _row(fault: CatalogueFault, language: Language) -> str:
    n = 0 if language == "en" else 1
    cells = (
        f"{fault.code} {fault.name}",
        fault.cause(_samples(fault, language), language),
        _evidence(fault, n),
        fault.action(language=language),
        _then(fault, n),
        _parts(fault, n),
        _who(fault, n),
    )
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _samples(fault: CatalogueFault, language: Language) -> dict[str, object]:
    """Leave out all that is only said where it is known; name what every text needs."""
    text = fault.cause_zh if language == "zh" else fault.cause_en
    bare = re.sub(r"\[[^\[\]]*\]", "", text)
    return dict.fromkeys(_PLACEHOLDER.findall(bare), "…")


def _evidence(fault: CatalogueFault, n: int) -> str:
    names = dict.fromkeys(_PLACEHOLDER.findall(fault.cause_en + fault.action_en))
    words = more()["details"].get(fault.name, more()["evidence"])
    said = [words[name][n] for name in names if name in words]
    return ("; ", "；")[n].join(said) or _WORDS["nothing"][n]


def _then(fault: CatalogueFault, n: int) -> str:
    if fault.code >= REFUSALS_FROM:
        return str(more()["then"].get(fault.name, more()["then"]["refused"])[n])
    named = [
        f"`{name}`"
        for name, figure in _figures()["figure"].items()
        if figure.get("fault") == fault.name
    ]
    said = str(more()["fault"][fault.name]["then"][n])
    listed = (", ", "、")[n].join(named)
    return f"{said}{_WORDS['figure'][n]}{listed}" if named else said


def _parts(fault: CatalogueFault, n: int) -> str:
    if fault.code >= REFUSALS_FROM:
        return _WORDS["nothing"][n]
    known = parts()
    return ("; ", "、")[n].join(known[name][n] for name in more()["fault"][fault.name]["parts"])


def _who(fault: CatalogueFault, n: int) -> str:
    said = str(more()["severity"][fault.fault_class][n])
    return said if fault.counts_hold else f"{said}; {_WORDS['bars'][n]}"


def _index(language: Language) -> str:
    n = 0 if language == "en" else 1
    rows = []
    for fault in fault_catalogue().values():
        words = more()["symptom"][symptom(fault)][n]
        rows.append(f"| {fault.code} | {fault.name} | [{words}](#{_anchor(words)}) |")
    head = ("| code | name | under |", "| 代码 | 名称 | 见 |")[n]
    return f"{head}\n|---|---|---|\n" + "\n".join(rows)


def _anchor(heading: str) -> str:
    """Return the anchor that a heading gets on the usual hosts."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _cell(text: str) -> str:
    linked = _PAGE.sub(lambda name: f"[{name[0]}]({_PLACES.get(name[0], name[0])})", text)
    return re.sub(r"\s+", " ", linked).replace("|", "\\|").strip()

"""A ruling as lines for people."""

from collections import Counter
from collections.abc import Iterator

from controller.rules.combos.articles import CitedRule
from controller.rules.combos.ruling import (
    ComboReading,
    ContainedKinds,
    JudgedPlay,
    PlayRuling,
    reading_text,
)


def format_answer(answer: ContainedKinds | PlayRuling) -> Iterator[str]:
    """Yield the lines of an answer: what holds, why, and what each play may be."""
    if isinstance(answer, ContainedKinds):
        yield f"{answer.play} contains: {answer.en}"
        yield f"{answer.play} 含有：{answer.zh}"
        yield from map(_format_reason, answer.reasons)
        return
    yield answer.en
    yield answer.zh
    yield from map(_format_reason, answer.reasons)
    for judged in (answer.table, answer.play):
        if judged is not None:
            yield ""
            yield from _format_play(judged)


def _format_play(judged: JudgedPlay) -> Iterator[str]:
    declared = judged.declared
    said = f"  (declared {declared.en} 说明为{declared.zh})" if declared else ""
    due = "  (to be declared at once 须说明)" if judged.declaration_due else ""
    yield f"{judged.play}{said}{due}"
    alike = Counter(map(_deciding_fields, judged.readings))
    folded = set[tuple[str, str]]()
    for reading in judged.readings:
        counts, what = reading == judged.counts_as, _deciding_fields(reading)
        if counts or alike[what] == 1:
            yield f"  {'*' if counts else ' '} {reading_text(reading)}  {reading.zh}"
        elif what not in folded:
            folded.add(what)
            other = judged.counts_as is not None and _deciding_fields(judged.counts_as) == what
            yield f"    {_format_any_pair(reading, other=other)}"
    yield from map(_format_reason, judged.reasons)


def _deciding_fields(reading: ComboReading) -> tuple[str, str]:
    """Return what readings share that differ in nothing but the pair of a full house."""
    return reading.kind, reading.decides


def _format_any_pair(reading: ComboReading, *, other: bool) -> str:
    any_en, any_zh = ("any other", "另一") if other else ("any", "任意一")
    return (
        f"{reading.en} with {any_en} pair but {reading.decides}  "
        f"{reading.zh}（带{reading.decides}以外的{any_zh}对）"
    )


def _format_reason(reason: CitedRule) -> str:
    mark = "" if not reason.provisional or "provisional" in reason.article else " (provisional)"
    mark += " 暂定" if reason.provisional else ""
    return f"  {reason.article}{mark}: {reason.en} · {reason.zh}"

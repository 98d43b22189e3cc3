"""Combinations, and the report of cards left; asked in the examples 39 and 45–62."""

from controller.rules.combos.combo_judge import judge_play
from controller.rules.combos.play_ruling import ComboReading, PlayRuling
from controller.rules.profile import GuandanProfile
from tests.examples.table import GRADES

Got = dict[str, object]


def report(profile: GuandanProfile, *, plays: list[str]) -> Got:
    """Plays as "12 to 10" cards in hand: those after which the player reports."""
    due = []
    for play in plays:
        before, left = map(int, play.split(" to "))
        if profile.conduct.is_report_due(before, left):
            due.append(play)
    return {"reports": due}


def beating(profile: GuandanProfile, *, level: str, plays: list[str]) -> Got:
    """Plays as "♠10 on ♠A": the legal ones."""
    legal = []
    for play in plays:
        above, below = play.split(" on ")
        ruling = _judged(profile, level, above, below)
        if ruling.legal:
            legal.append(play)
    return {"legal": legal}


def leading(profile: GuandanProfile, *, level: str, plays: list[str], kind: str) -> Got:
    """Plays that are led: the legal ones, which must be of one kind, and those it may not be."""
    legal = []
    for play in plays:
        ruling = _judged(profile, level, play)
        assert ruling.legal == (kind in {one.kind for one in ruling.play.readings}), play
        if ruling.legal:
            legal.append(play)
    return {"legal": legal}


def reading(profile: GuandanProfile, *, level: str, play: str, declare: str | None = None) -> Got:
    """One play with a wild card: what it may be, and what it counts as."""
    ruling = _judged(profile, level, play, declare=declare)
    return {
        "legal": ruling.legal,
        "may_be": sorted(_text(one) for one in ruling.play.readings),
        "counts_as": _text(ruling.play.counts_as) if ruling.play.counts_as else "nothing",
        "to_declare": ruling.play.declaration_due,
    }


def _judged(
    profile: GuandanProfile,
    level: str,
    play: str,
    on: str | None = None,
    declare: str | None = None,
) -> PlayRuling:
    return judge_play(profile.name, GRADES.index(level) + 2, play, on, declare)


def _text(one: ComboReading) -> str:
    """A reading by its kind and the rank that decides: "full house K"."""
    return f"{one.en} {one.decides}"

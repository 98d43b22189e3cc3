"""One line of text in each language: the next step of a match, and the people who must act."""

from collections.abc import Callable
from typing import cast

from controller import seats as seat_words
from controller.machine.public.awaited_seats import (
    awaited_seats,
    is_added_time_awaited,
    is_area_stopped,
    require_exchange,
    sides_to_confirm,
    signers_due,
)
from controller.match.deal_end import finish_so_far, is_ended_by_time
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.match.phase import MatchPhase
from controller.messages import Seat
from controller.rules.match_standing import levels_gained
from controller.rules.tribute import finish_owing_tribute
from controller.rules.tribute_returns import return_rule, return_visibility
from controller.seats import SEAT_NAMES, SIDE_NAMES
from controller.words import Words, reason_words


def next_words(match: AnyMatch) -> Words:
    """Return one line of text in each language: the next step of the match, and who must act."""
    if match.suspended is not None:
        return _suspended_words(match, match.suspended)
    told = _NEXT_WORDS[match.phase](match)
    if not is_area_stopped(match.clock):
        return told
    why = reason_words((match.clock.area_stop and match.clock.area_stop.reason) or "")
    en, zh = (f" ({why.en})", f"（{why.zh}）") if why.en else ("", "")
    return Words(f"the area's clocks are stopped{en}; {told.en}", f"全区停表{zh}；{told.zh}")


def _suspended_words(match: AnyMatch, reason: str) -> Words:
    if match.claimed is None:
        why = reason_words(reason)
        return Words(f"suspended ({why.en}): wait for the referee", f"暂停待裁（{why.zh}）")
    who = SEAT_NAMES[match.claimed]
    return Words(
        f"{who.en} claims a wrong count: the referee counts the four hands",
        f"{who.zh}申告张数不符，请裁判员清点四家手牌",
    )


def _setup(match: AnyMatch) -> Words:
    waited = seat_words.seat_list_words(awaited_seats(match))
    if waited.en:
        return Words(
            f"players take their seats, waiting for {waited.en}", f"选手就位，尚缺{waited.zh}"
        )
    return Words("the chief opens the match", "请等待裁判长宣布开赛")


def _shuffle(match: AnyMatch) -> Words:
    who = seat_words.seat_choice_words(awaited_seats(match))
    times = _range(match.duties.shuffles if match.duties else (1, 1))
    often = "time" if times == "1" else "times"
    return Words(f"{who.en} shuffles ({times} {often})", f"请{who.zh}洗牌（{times}次）")


def _cut(match: AnyMatch) -> Words:
    who = seat_words.seat_choice_words(awaited_seats(match))
    cards = _range(match.duties.cuts) if match.duties else ""
    return Words(f"{who.en} cuts ({cards})", f"请{who.zh}切牌（{cards}）")


def _turnup(match: AnyMatch) -> Words:
    who = seat_words.seat_choice_words(awaited_seats(match))
    return Words(f"{who.en or 'somebody'} turns a card up", f"请{who.zh}翻牌")


def _dealing(match: AnyMatch) -> Words:
    if not match.by_hand:
        return _add_uncut_note(match, "the machine deals, please wait", "发牌中，请稍候")
    first = match.first_drawer or (match.duties.first_drawer if match.duties else None)
    if first is None:
        return Words("the hands are drawn", "人工发牌，请抓牌")
    return Words(
        f"the hands are drawn, {SEAT_NAMES[first].en} draws first",
        f"人工发牌，{SEAT_NAMES[first].zh}先抓牌",
    )


def _held(match: AnyMatch) -> Words:
    if match.let_go:
        return Words("the hands are being released: take them", "放行中，请取牌")
    if is_added_time_awaited(match):
        return Words(
            "time is up: a referee decides how much time is added", "时间到，请裁判员决定是否补时"
        )
    return _add_uncut_note(
        match, "the hands are ready: any player confirms to take them", "牌已备好，任一家按确认取牌"
    )


def _add_uncut_note(match: AnyMatch, en: str, zh: str) -> Words:
    """Return `en` and `zh`, preceded by "uncut deal" if the machine deals without a cut."""
    if match.cut is None and not match.by_hand:
        return Words(f"uncut deal; {en}", f"本副未切牌；{zh}")
    return Words(en, zh)


def _count(match: AnyMatch) -> Words:
    waited = seat_words.seat_list_words(awaited_seats(match))
    cards = match.profile.hand
    return Words(
        f"count {cards} cards, waiting for {waited.en}", f"请清点{cards}张，待{waited.zh}确认"
    )


def _anti(match: AnyMatch) -> Words:
    who = seat_words.seat_list_words(awaited_seats(match))
    if not who.en:
        return Words("anti-tribute is checked", "核对抗贡")
    return Words(
        f"{who.en}: both big jokers, so that no tribute is paid?", f"请{who.zh}说明是否抗贡"
    )


def _tribute(match: AnyMatch) -> Words:
    who = seat_words.seat_list_words(awaited_seats(match))
    if not who.en:
        return Words("the tributes are compared with what is due", "核对应贡的牌")
    return Words(f"tribute: {who.en} lays it face up and confirms", f"请{who.zh}亮出贡牌后按确认")


def _return(match: AnyMatch) -> Words:
    assert isinstance(match, GuandanMatch)  # The phase belongs to Guandan.
    exchange = require_exchange(match)
    owed = finish_owing_tribute(match.profile, match.follows)
    assert owed is not None  # In this phase a tribute is owed.
    assert exchange.plan is not None  # The phase begins with a plan.
    if exchange.plan.choice_open and not exchange.given:
        up = SEAT_NAMES[owed.up]
        return Words(
            f"equal tributes: {up.en} may choose one of them, then returns are given",
            f"贡牌同大，{up.zh}可选收哪家，然后还牌",
        )
    secret = return_visibility(match.profile, owed) == "secret"
    due = [pair for pair in exchange.plan.returns if pair[0] not in exchange.given]
    told = seat_words.join_words(
        due, lambda pair: _RETURN_WORDS[return_rule(match.profile, owed, *pair)](*pair), "; ", "；"
    )
    return Words(f"{told.en}, face down", f"{told.zh}，暗还") if secret else told


_RETURN_WORDS: dict[str, Callable[[Seat, Seat], Words]] = {
    "any": lambda giver, to: Words(
        f"{SEAT_NAMES[giver].en} returns a card to {SEAT_NAMES[to].en}",
        f"请{SEAT_NAMES[giver].zh}还{SEAT_NAMES[to].zh}",
    ),
    "ten": lambda giver, to: Words(
        f"{SEAT_NAMES[giver].en} returns a card of 10 or less to {SEAT_NAMES[to].en}",
        f"请{SEAT_NAMES[giver].zh}还{SEAT_NAMES[to].zh}（10以下，含10）",
    ),
    "ten_advised": lambda giver, to: Words(
        f"{SEAT_NAMES[giver].en} returns a card to {SEAT_NAMES[to].en} (10 or less is advised)",
        f"请{SEAT_NAMES[giver].zh}还{SEAT_NAMES[to].zh}（宜10以下，含10）",
    ),
}


def _choices(match: AnyMatch) -> Words:
    choices = cast(BigTwoMatch, match).choices
    who = seat_words.seat_list_words(awaited_seats(match))
    if choices is None or choices.doubling is None:
        return Words(f"{who.en}: open hand or not?", f"请{who.zh}表态：是否明牌")
    return Words(f"{who.en}: double or not?", f"请{who.zh}表态：是否加倍")


def _play(match: AnyMatch) -> Words:
    anti = isinstance(match, GuandanMatch) and match.exchange is not None and match.exchange.anti
    if not match.led and match.leader is not None:
        who = SEAT_NAMES[match.leader]
        if anti:
            return Words(f"anti-tribute, {who.en} leads", f"抗贡成立，{who.zh}先出")
        return Words(f"{who.en} leads", f"{who.zh}先出（领出牌）")
    outs = match.outs if isinstance(match, GuandanMatch) else ()
    if not outs:
        return Words("play", "打牌中")
    place = len(match.places) + 1 if isinstance(match, GuandanMatch) else 1
    waited = seat_words.seat_choice_words(awaited_seats(match))
    return Words(
        f"{SEAT_NAMES[outs[0]].en} is out, place {place}? {waited.en} confirms",
        f"{SEAT_NAMES[outs[0]].zh}第{place}名？请{waited.zh}确认",
    )


def _result(match: AnyMatch) -> Words:
    told = Words("result", "成绩")
    if isinstance(match, GuandanMatch):
        if is_ended_by_time(match):
            return Words(
                "time was up before the last card: the referee stops the deal",
                "终局前时间到，请裁判员终止本副",
            )
        result = finish_so_far(match)
        assert result is not None  # RESULT begins with one.
        won, up = SIDE_NAMES[result.winners], levels_gained(match.profile, result)
        told = Words(f"{won.en} +{up}", f"{won.zh}+{up}")
    due = seat_words.join_words(sides_to_confirm(match), SIDE_NAMES.__getitem__)
    return Words(f"{told.en}: {due.en} to confirm", f"{told.zh}，待{due.zh}确认")


def _forfeit(match: AnyMatch) -> Words:
    who = seat_words.seat_choice_words(awaited_seats(match))
    return Words(f"name who leads: {who.en}", f"请指定领出牌者：{who.zh}")


def _over(match: AnyMatch) -> Words:
    due = seat_words.signer_list_words(signers_due(match))
    return Words(f"the score sheet is to be signed: {due.en}", f"记分表待签：{due.zh}")


def _range(least_most: tuple[int, int]) -> str:
    least, most = least_most
    return str(least) if least == most else f"{least}…{most}"


_NEXT_WORDS: dict[MatchPhase, Callable[[AnyMatch], Words]] = {
    MatchPhase.SETUP: _setup,
    MatchPhase.SHUFFLE: _shuffle,
    MatchPhase.CUT: _cut,
    MatchPhase.TURNUP: _turnup,
    MatchPhase.DEALING: _dealing,
    MatchPhase.HELD: _held,
    MatchPhase.COUNT_CHECK: _count,
    MatchPhase.ANTI_CHECK: _anti,
    MatchPhase.TRIBUTE: _tribute,
    MatchPhase.RETURN: _return,
    MatchPhase.CHOICES: _choices,
    MatchPhase.PLAY: _play,
    MatchPhase.RESULT: _result,
    MatchPhase.FORFEIT: _forfeit,
    MatchPhase.MATCH_CHECK: lambda match: Words(
        "equal: the chief orders an extra deal", "平级，待裁判长决定加打一副"
    ),
    MatchPhase.OVER: _over,
    MatchPhase.SIGNED: lambda match: Words(
        "the match is over and signed", "本局结束，记分表已签名"
    ),
}

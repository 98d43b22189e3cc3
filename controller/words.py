"""Text in English and Chinese: the names of roles, phases, commands, reasons and calls.

The names of a match's phases are in controller/match/phase.py. The Chinese terms are those of
referees (REFEREE 3.6): 放行 is to release the hands, 一套牌 is a set, 副 is a deal.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from controller.messages import MachinePhase


class Words(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One text in English and Chinese. In a data file it is a list of the two."""

    en: str
    zh: str


class WordsError(ValueError):
    """An error whose text is one line. str() is the English text, `words` has both languages."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.words = Words(en, zh)


def quoted_words(names: Iterable[str], table: Mapping[str, Words]) -> Words:
    """Return the texts of `names`, each in quotes, as one line in English and one in Chinese.

    `table` maps names to their texts. A name that is not in `table` is used unchanged.
    """
    said = [table.get(name, Words(name, name)) for name in names]
    return Words(", ".join(f'"{each.en}"' for each in said), _join_chinese(said))


def roles_with_article(roles: Iterable[str]) -> Words:
    """Return the names of `roles` with English articles, as in "a referee, the chief referee"."""
    said = [_ROLES_WITH_ARTICLE.get(role, Words(role, role)) for role in roles]
    return Words(", ".join(each.en for each in said), _join_chinese(said))


def phase_clauses(phases: Iterable[str]) -> str:
    """Return one English text: a clause for each phase in `phases`, joined by ", or ".

    For example: "the machine is idle, or the cut is entered".
    """
    return ", or ".join(_PHASE_CLAUSES[phase] for phase in phases)


def _join_chinese(said: Iterable[Words]) -> str:
    return "、".join(f"“{each.zh}”" for each in said)


ROLE_WORDS: Final[Mapping[str, Words]] = {
    "observer": Words("observer", "观摩"),
    "table": Words("the table", "台显"),
    "referee": Words("referee", "裁判员"),
    "chief": Words("chief referee", "裁判长"),
    "technician": Words("technician", "技术员"),
}

_ROLES_WITH_ARTICLE: Final[Mapping[str, Words]] = {
    "observer": Words("an observer", "观摩"),
    "table": Words("the table's display", "台显"),
    "referee": Words("a referee", "裁判员"),
    "chief": Words("the chief referee", "裁判长"),
    "technician": Words("a technician", "技术员"),
}

MACHINE_PHASE_WORDS: Final[Mapping[str, Words]] = {
    MachinePhase.FAULT: Words("fault", "故障"),
    MachinePhase.EMPTY: Words("idle", "空闲"),
    MachinePhase.COMMITTED: Words("waits for the cut", "待切牌"),
    MachinePhase.CUT: Words("cut", "已切牌"),
    MachinePhase.SHUFFLING: Words("shuffling", "洗牌中"),
    MachinePhase.DEALING: Words("dealing", "发牌中"),
    MachinePhase.HELD: Words("hands ready, locked in", "待放行"),
    MachinePhase.RELEASED: Words("hands are out", "已放行"),
}
"""The names of the machine's phases."""

_PHASE_CLAUSES: Final[Mapping[str, str]] = {
    MachinePhase.FAULT: "the machine has a fault",
    MachinePhase.EMPTY: "the machine is idle",
    MachinePhase.COMMITTED: "the cut is waited for",
    MachinePhase.CUT: "the cut is entered",
    MachinePhase.SHUFFLING: "the cards are being shuffled",
    MachinePhase.DEALING: "the cards are being dealt",
    MachinePhase.HELD: "the hands are ready, locked in",
    MachinePhase.RELEASED: "the hands are out",
}

COMMAND_WORDS: Final[Mapping[str, Words]] = {
    "snapshot": Words("Read the state", "读取状态"),
    "events": Words("Read the journal", "读取日志"),
    "sheet": Words("Score sheet", "记分表"),
    "document": Words("Fetch the match on its way", "取转台数据"),
    "rulings": Words("What a charge leads to", "查判罚"),
    "foresee": Words("What a decision does", "预看裁定结果"),
    "lost_time": Words("Time lost", "耽误时间"),
    "offers": Words("What may be ordered now", "当前可执行"),
    "attend": Words("At the table", "到台"),
    "seat": Words("Seat a player", "就位"),
    "cut": Words("Cut", "切牌"),
    "confirm": Words("Confirm", "确认"),
    "out": Words("Player is out", "出完"),
    "call": Words("Call the referee", "召请裁判"),
    "claim_count": Words("Claim a wrong count", "申告张数不符"),
    "answer": Words("Open hand / double", "明牌、加倍"),
    "choose": Words("Choose a tribute", "选收贡牌"),
    "set_match": Words("Lay a match out", "排定对阵"),
    "start_match": Words("Open the match", "开赛"),
    "start_deal": Words("Start the deal", "开始发牌"),
    "release": Words("Release the hands", "放行"),
    "hold": Words("Stop", "暂停"),
    "resume": Words("Go on", "继续比赛"),
    "recount": Words("Enter four counts", "清点录入"),
    "replace_set": Words("Change the set", "换牌"),
    "clear_set": Words("Set counted, right", "整套清点无误"),
    "tribute": Words("Check a tribute", "核对贡牌"),
    "return": Words("Check a return", "核对还牌"),
    "anti": Words("Anti-tribute", "抗贡"),
    "swap_returns": Words("Swap the returns", "互换还牌"),
    "withdraw_out": Words("Not out after all", "撤回出完"),
    "result": Words("Enter the places", "录入名次"),
    "left": Words("Enter the cards left", "录入剩余张数"),
    "name_leader": Words("Name who leads", "指定领出牌者"),
    "stop_deal": Words("Stop the deal", "终止本副"),
    "call_clock": Words("Start a player's clock", "读秒"),
    "warn": Words("Warned", "已警告超时"),
    "add_time": Words("Add time", "补时"),
    "propose": Words("Propose a ruling", "报判罚"),
    "approve": Words("Approve", "同意"),
    "reject": Words("Reject", "驳回"),
    "extra_deal": Words("Extra deal", "加打一副"),
    "adjust": Words("Correct a result", "更正成绩"),
    "redeal": Words("Deal again", "重新发牌"),
    "dealt_by_hand": Words("Deal by hand", "改人工发牌"),
    "shuffled": Words("Shuffled by hand", "已人工洗牌"),
    "cut_by_hand": Words("Cut by hand", "人工切牌"),
    "turned_up": Words("Card turned up", "翻牌"),
    "hands_dealt": Words("Hands are drawn", "手牌已抓齐"),
    "transfer": Words("Move to another table", "转台"),
    "take_over": Words("Take a match over", "接台"),
    "sign": Words("Sign the sheet", "签名"),
    "acknowledge": Words("Seen to", "已知悉"),
    "clear_jam": Words("Jam is cleared", "卡牌已清"),
    "confirm_verbal": Words("Confirm the word", "确认口头裁定"),
    "forfeit": Words("Match lost", "弃权判负"),
    "void": Words("Give the attempt up", "作废本次发牌"),
    "open_hand": Words("Look at a hand", "开验手牌"),
    "selftest": Words("Self-test", "自检"),
    "configure": Words("Settings of a board", "控制板设置"),
    "calibrate": Words("Calibrate", "校准"),
}
"""The text of a button, by command."""

REASON_WORDS: Final[Mapping[str, Words]] = {
    "called": Words("the referee was called", "召请裁判"),
    "count": Words("a count is claimed", "张数不符"),
    "misdeal": Words("dealt again", "重新发牌"),
    "transfer": Words("moved to another table", "转台"),
    "at_table": Words("the referee is at the table", "裁判到台处理"),
    "referee": Words("stopped by the referee", "裁判员暂停"),
    "chief": Words("stopped by the chief referee", "裁判长暂停"),
    "technician": Words("stopped by the technician", "技术员暂停"),
    "order_entered_wrongly": Words("the order was entered wrongly", "名次录入有误"),
    "order_misread": Words("who went out first was misread", "看错出完先后"),
    "both_sides_agree": Words("both sides agree", "双方共同更正"),
}
"""The reasons of a stop or a correction that the program gives as keys, each with its words."""

CALL_WORDS: Final[Mapping[str, Words]] = {
    "wrong_player": Words("another player than the list has sits there", "就座选手与对阵表不符"),
    "count": Words("wrong count claimed: count the hands", "张数不符，请清点"),
    "second_count": Words(
        "this pair's second wrong count: the chief's", "同一方再次张数不符，报裁判长"
    ),
    "misdeals_in_a_row": Words("two misdeals in a row: come to the table", "连续两次重发，请到台"),
    "name_leader": Words("deal forfeited: enter who leads", "本副判负，请指定领出牌者"),
    "added_time": Words("the table lost time: return it, or enter 0", "本台耽误时间，请决定补时"),
    "extra_deal": Words("equal: the chief orders an extra deal", "平级，待裁判长加打一副"),
    "hands_unknown": Words(
        "no machine here knows these hands: judge tribute and return yourself",
        "本机不掌握这些手牌，贡还由裁判员核对",
    ),
    "play_warning": Words("play clock overrun: oral warning?", "出牌超时，建议：口头警告"),
    "play_violation": Words("play clock overrun again: violation?", "出牌再次超时，建议：记违例"),
    "tribute_warning": Words("tribute is late: oral warning?", "贡牌超时，建议：口头警告"),
    "tribute_violation": Words("tribute is late again: violation?", "贡牌再次超时，建议：记违例"),
    "return_warning": Words("return is late: oral warning?", "还牌超时，建议：口头警告"),
    "return_violation": Words("return is late again: violation?", "还牌再次超时，建议：记违例"),
    "opening_over": Words("the first lead is late", "开局超时，尚未领出牌"),
    "late_regulations": Words(
        "players are late: see the event's regulations", "选手未到场，按补充规定处理"
    ),
    "late_default": Words("players are late: default?", "选手未到场，建议：弃权判负"),
}
"""The reasons for which a match calls a referee. A call by a clock is worded as a question, because
only a referee decides.
"""


def reason_words(reason: str) -> Words:
    """Return the English and the Chinese text of `reason`, for example the reason of a stop.

    A text that a person wrote is returned unchanged. A key of REASON_WORDS is replaced by its text.
    Several keys in one line, separated by commas, are reasons that apply at the same time.
    """
    known = [REASON_WORDS.get(key) for key in reason.split(", ")]
    said = [words for words in known if words is not None]
    if len(said) < len(known):
        return Words(reason, reason)
    return Words(", ".join(each.en for each in said), "、".join(each.zh for each in said))


def signer_text(name: str, person: str | None) -> str:
    """Return the text for a signer: the person, then the key's name, as in "Li Na (referee)".

    `name` is the key's name. If `person` is None, the text is only `name`.
    """
    return name if person is None else f"{person} ({name})"


def names_in_signer_text(by: object) -> frozenset[str]:
    """Return the person's name and the key's name from `by`, a text that `signer_text` made.

    Case and the width of spaces are removed, so that two spellings of one name are equal. Returns
    an empty set for a value that is not text.
    """
    if not isinstance(by, str):
        return frozenset()
    both = _PERSON_AND_KEY.fullmatch(by)
    told = (by,) if both is None else both.groups()
    return frozenset(" ".join(name.split()).casefold() for name in told)


def signer_words(by: object) -> Words:
    """Return `by`, a text that `signer_text` made, in English and Chinese.

    Only the role in the key's name is translated.
    """
    both = _PERSON_AND_KEY.fullmatch(str(by))
    if both is None:
        return _key_name_words(by)
    return Words(str(by), f"{both[1]}（{_key_name_words(both[2]).zh}）")


def decided_by_words(by: object, entered_by: object = None) -> Words:
    """Return a text that names `by`, who made a decision, and `entered_by`, who entered it.

    With `entered_by`, the decision is a verbal decision of the chief. With None, the text names
    only `by`.
    """
    if entered_by is None:
        return signer_words(by)
    there = signer_words(entered_by)
    return Words(
        f"{by} (chief, by word), entered by {there.en}", f"裁判长{by}（口头），{there.zh}录入"
    )


def _key_name_words(name: object) -> Words:
    """Return `name`, a signing key's name such as "Hall-1-referee", in English and Chinese."""
    whole = str(name)
    console, _, role = whole.rpartition("-")
    if console and role in ROLE_WORDS:
        return Words(whole, f"{console} {ROLE_WORDS[role].zh}")
    return ROLE_WORDS.get(whole) or Words(whole, whole)


_PERSON_AND_KEY: Final = re.compile(r"([^()]+) \(([^()]+)\)")
"""Pattern of `signer_text`. Neither of the two names contains brackets."""

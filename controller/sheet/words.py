"""The words of a printed score sheet, in English and in Chinese."""

from controller.sheet.form import SheetCorrection, SheetRules
from controller.signer_names import signer_words
from controller.words import Words


def rules_words(rules: SheetRules) -> Words:
    """Return what a rulebook is called, with what its event settles."""
    en, zh = ((rules.title_en, rules.event_en), (rules.title_zh, rules.event_zh))
    return Words(" · ".join(filter(None, en)), " · ".join(filter(None, zh)))


def confirmation_words(one: SheetCorrection) -> Words | None:
    """Return whether the chief has confirmed his word, in words; None: it was none by mouth."""
    if one.confirmed_by is not None:
        by = signer_words(one.confirmed_by)
        return Words(f"confirmed by {by.en}", f"{by.zh}已书面确认")
    if one.entered_by is None:
        return None
    return Words("not confirmed in writing yet", "待书面确认")


def correction_reason(one: SheetCorrection) -> Words:
    """Return why a result was corrected: as a person wrote it, or the offence of its ruling."""
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
    "choice_stand": Words("stands as played", "维持原计"),
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
    "unsigned": Words("nobody has signed", "未签名"),
    "version": Words("Version", "版本"),
    "sheet_rows": Words("rows", "行数"),
    "head": Words("Journal head", "日志头"),
}
"""Every word of the page."""

"""Who may decide what: the referee at the table, or the chief referee.

Seed 000 A15.2 names the chief for fouls, lost matches and every choice between penalties;
002 A15 says what else is his, and that a deputy is the chief while he stands in for him (he
then acts with the chief's key). Nobody else decides anything of a match.
"""

from typing import Literal

import msgspec

from controller.match.refusals import Refusal, RefusedError
from controller.messages import Role

DecidedAct = Literal[
    "warning",
    "violation",
    "recount",
    "second_count",
    "set_change",
    "tribute_correction",
    "foul",
    "deal_lost",
    "match_lost",
    "default",
    "disqualification",
    "second_signal",
    "grave_delay",
    "choice_of_penalty",
    "lapse_disputed",
    "wrong_tribute_in_play",
    "redeal_after_release",
    "void_deal",
    "correction",
    "late_correction",
    "signed_sheet",
    "deal_stopped",
    "overturning",
    "open_hand",
    "much_added_time",
    "transfer",
    "extra_deal",
    "standings",
]
"""What is decided in a hall. `redeal_after_release`: one that is not the misdeal of A5.2."""


class ActAuthority(msgspec.Struct, frozen=True, gc=False):
    """Who decides on an act, what it is called, and its source; None: provisional."""

    needs: Literal["referee", "chief"]
    en: str
    zh: str
    source: str | None


AUTHORITY_BY_ACT: dict[DecidedAct, ActAuthority] = {
    "warning": ActAuthority("referee", "oral warning", "口头警告", "seed 000 A15.3.1"),
    "violation": ActAuthority(
        "referee", "violation, one trick lost", "记违例，停一圈出牌权", "seed 000 A15.3.2"
    ),
    "recount": ActAuthority("referee", "count of the hands", "清点手牌", "seed 000 A5.2"),
    "second_count": ActAuthority(
        "chief", "a pair's second wrong count", "同一方再次张数不符", None
    ),
    "set_change": ActAuthority("referee", "another set of cards", "换牌", "seed 000 A5.2"),
    "tribute_correction": ActAuthority(
        "referee", "wrong tribute or return, before play", "纠正贡还错牌", "seed 000 A18.3"
    ),
    "foul": ActAuthority("chief", "foul, whatever the article", "犯规", "seed 000 A15.2.2"),
    "deal_lost": ActAuthority("chief", "deal lost", "一副牌判负", "seed 000 A15.3.3"),
    "match_lost": ActAuthority("chief", "match lost", "一局判负", "seed 000 A15.3.4"),
    "default": ActAuthority("chief", "default", "弃权判负", "seed 000 A15.3.4"),
    "disqualification": ActAuthority(
        "chief", "disqualification", "取消比赛资格", "seed 000 A15.3.5"
    ),
    "second_signal": ActAuthority(
        "chief", "second illegal signal", "第二次非法信号", "seed 000 A19.2.2"
    ),
    "grave_delay": ActAuthority("chief", "grave delay", "情节严重的拖延", "seed 000 A21.3"),
    "choice_of_penalty": ActAuthority(
        "chief", "choice between penalties", "多项判罚的选择", "seed 000 A15.2.3"
    ),
    "lapse_disputed": ActAuthority(
        "chief", "disputed lapse of a claim", "处罚权丧失有争议", "seed 000 A15.3.8"
    ),
    "wrong_tribute_in_play": ActAuthority(
        "chief", "wrong tribute found in play", "开赛后发现贡错牌", "seed 000 A18.4"
    ),
    "redeal_after_release": ActAuthority("chief", "redeal after release", "放行后重新发牌", None),
    "void_deal": ActAuthority("chief", "played deal made void", "作废已打完的一副", None),
    "correction": ActAuthority("referee", "result corrected", "更正成绩", "seed 000 A13.1"),
    "late_correction": ActAuthority(
        "chief", "result corrected after later deals", "打过后续各副后更正成绩", "seed 000 A15.3.8"
    ),
    "deal_stopped": ActAuthority(
        "referee", "deal stopped by time", "终止本副", "seed 000 A14.2.3–4"
    ),
    "signed_sheet": ActAuthority(
        "chief", "signed sheet corrected", "更正已签记分表", "seed 002 A15"
    ),
    "overturning": ActAuthority("chief", "referee overturned", "改判裁判员的裁定", "seed 002 A15"),
    "open_hand": ActAuthority("chief", "hand looked at", "开验手牌", None),
    "much_added_time": ActAuthority("chief", "much added time", "较长补时", None),
    "transfer": ActAuthority("chief", "move to another table", "转台", None),
    "extra_deal": ActAuthority("chief", "extra deal", "加打一副", "seed 000 A29.3.2"),
    "standings": ActAuthority("chief", "standings released", "发布成绩", None),
}
"""Every act and who decides on it."""

REFEREE_ROLES = frozenset({Role.REFEREE, Role.CHIEF})


def required_authority(act: DecidedAct) -> Literal["referee", "chief"]:
    """Return who decides on an act."""
    return AUTHORITY_BY_ACT[act].needs


def require_authority(act: DecidedAct, role: Role, *, verbal: bool = False) -> None:
    """Refuse what `role` may not decide. Raises RefusedError."""
    refused = authority_refusal(required_authority(act), role, verbal=verbal)
    if refused is not None:
        raise RefusedError(refused)


def authority_refusal(
    needed: Literal["referee", "chief"], role: Role, *, verbal: bool
) -> Refusal | None:
    """Return why `role` may not decide what needs `need`; None: he may.

    `verbal`: a referee enters what the chief said to him.
    """
    if role not in REFEREE_ROLES:
        return Refusal("NOT_A_REFEREE")
    if needed == "chief" and role is not Role.CHIEF and not verbal:
        return Refusal("NEEDS_CHIEF")
    return None

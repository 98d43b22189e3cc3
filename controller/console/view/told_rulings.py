"""What a referee decided in a match, in words: rulings, corrections, time, signatures."""

import msgspec

from controller.console.view import called
from controller.console.view.called import name_of
from controller.console.view.telling import DealContext, DescribeEvent, EventData
from controller.console.view.told_deal import describe_places
from controller.rules.penalties.consequences import Consequences, penalty_words
from controller.rules.penalties.offences import find_offence
from controller.rules.penalties.records import Penalty
from controller.rules.seat_words import SEAT_NAMES, SIDE_NAMES
from controller.signer_names import decided_by_words
from controller.signer_names import signer_words as by_words
from controller.words import ROLE_WORDS, Words, reason_words


def describe_correction(data: EventData, context: DealContext) -> Words:
    """Say how a result was corrected, and what becomes of the later deals."""
    told, choice = (
        describe_places(data.get("order", ())),
        name_of(called.CORRECTION_CHOICES, data.get("choice")),
    )
    deal, why = data.get("deal"), data.get("reason")
    by = decided_by_words(data.get("by"), data.get("entered_by"))
    return Words(
        f"deal {deal} corrected: {told.en}; {choice.en}: {why} ({by.en})",
        f"更正第{deal}副：{told.zh}；{choice.zh}：{why}（{by.zh}）",
    )


def describe_suspension(data: EventData, context: DealContext) -> Words:
    """Say why play is suspended."""
    why = reason_words(str(data.get("reason", "")))
    return Words(f"suspended: {why.en}", f"暂停待裁：{why.zh}")


def describe_area_stop(data: EventData, context: DealContext) -> Words:
    """Say that the area's clocks are stopped, why and by whom."""
    why, by = reason_words(str(data.get("reason") or "")), by_words(data.get("by") or "")
    reason = Words(f": {why.en}", f"：{why.zh}") if why.en else why
    whose = Words(f" ({by.en})", f"（{by.zh}）") if by.en else by
    return Words(
        f"the area's clocks are stopped{reason.en}{whose.en}",
        f"全区停表{reason.zh}{whose.zh}",
    )


def describe_added_time(data: EventData, context: DealContext) -> Words:
    """Say how much time is added, in minutes and seconds."""
    seconds = data.get("seconds", 0)
    if not seconds:
        return Words("no time is added", "不补时")
    return Words(f"time added: {_minutes(seconds)}", f"补时{_minutes(seconds)}")


def _minutes(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02}"


def describe_ruling_proposal(data: EventData, context: DealContext) -> Words:
    """Say which ruling was proposed, on whom, for what."""
    charge, proposal = data.get("charge", {}), data.get("proposal", {})
    who = _accused_words(charge)
    what, penalty = _offence_words(charge), _penalty_words(proposal)
    number, by = _ruling_number(data, charge.get("deal")), by_words(data.get("by"))
    return Words(
        f"ruling {number.en} proposed by {by.en}: {who.en}, {what.en}: {penalty.en}",
        f"{by.zh}报判罚{number.zh}：{who.zh}，{what.zh}，{penalty.zh}",
    )


def _penalty_words(proposal: EventData) -> Words:
    penalty = msgspec.convert(proposal.get("penalty"), Penalty)
    return penalty_words(penalty, msgspec.convert(proposal.get("effects", ()), Consequences))


def _ruling_number(data: EventData, deal: int | None) -> Words:
    """Return a ruling's number with the deal of the offence, where that is known."""
    number = str(data.get("id"))
    if deal is None:
        return Words(number, number)
    return Words(f"{number} (deal {deal})", f"{number}（第{deal}副）")


def _accused_words(charge: EventData) -> Words:
    seat = charge.get("seat")
    return name_of(SIDE_NAMES, charge.get("side")) if seat is None else name_of(SEAT_NAMES, seat)


def _offence_words(charge: EventData) -> Words:
    name = str(charge.get("offence"))
    try:
        row = find_offence(name)
    except LookupError:
        return Words(name, name)
    return Words(row.en, row.zh)


def describe_ruling_approval(data: EventData, context: DealContext) -> Words:
    """Say who approved a ruling, and as what."""
    by, proposal = decided_by_words(data.get("by"), data.get("entered_by")), data.get("proposal")
    changed = Words("", "")
    if proposal is not None:
        penalty = _penalty_words(proposal)
        changed = Words(f", as {penalty.en}", f"，改判{penalty.zh}")
    entered = data.get("entered_by") is not None
    spoken = data.get("verbal") and not entered
    word = Words(" by word", "口头") if spoken else Words("", "：" if entered else "")
    number = _ruling_number(data, context.charged.get(str(data.get("id"))))
    return Words(
        f"ruling {number.en} approved{word.en} by {by.en}{changed.en}",
        f"{by.zh}{word.zh}同意判罚{number.zh}{changed.zh}",
    )


def ruling_line(en: str, zh: str) -> DescribeEvent:
    """Return a teller with a ruling's number and who spoke."""

    def tell(data: EventData, before: DealContext) -> Words:
        by = decided_by_words(data.get("by"), data.get("entered_by"))
        colon = "：" if data.get("entered_by") is not None else ""
        number = _ruling_number(data, before.charged.get(str(data.get("id"))))
        return Words(
            en.format(id=number.en, by=by.en),
            zh.format(id=number.zh, by=f"{by.zh}{colon}"),
        )

    return tell


def describe_correction_confirmation(data: EventData, context: DealContext) -> Words:
    """Say that the chief stands by a correction that was entered as his word."""
    deal, by = data.get("deal"), by_words(data.get("by"))
    return Words(
        f"the word by which deal {deal} was corrected is confirmed by {by.en}",
        f"{by.zh}确认第{deal}副成绩的口头更正",
    )


def describe_signature(data: EventData, context: DealContext) -> Words:
    """Say who signed the sheet, and for whom."""
    signer, person = data.get("signer"), data.get("person")
    known = {**SEAT_NAMES, **SIDE_NAMES, "referee": ROLE_WORDS["referee"]}
    who = name_of(known, signer)
    return Words(f"signed for {who.en}: {person}", f"{who.zh}签名：{person}")

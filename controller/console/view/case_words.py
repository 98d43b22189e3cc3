"""Rulings in words, as the desk shows them: what was said, what it leads to, who decided."""

from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from controller.console.view.cases import RulingCase, RulingRecord
from controller.console.view.choices import PenaltyChoice, build_penalty_choice
from controller.messages import PublicRuling, Seat, Side
from controller.rules.penalties.charges import Charge, lapse_article, lapse_reasons, lapse_words
from controller.rules.penalties.consequences import penalty_words
from controller.rules.penalties.offences import find_offence
from controller.rules.profile import GuandanProfile
from controller.signer_names import decided_by_words
from controller.words import Words


class LapseView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why the right to a penalty may have lapsed."""

    reason: str
    en: str
    zh: str
    article: str | None


class RulingView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A ruling as the desk shows it; what only entries tell is null where they were not heard.

    `decided`, `rejected`: by whom, in words; of the chief's word by mouth also who entered it.
    """

    id: str
    offence: str
    offence_en: str
    offence_zh: str
    kind_en: str = ""
    kind_zh: str = ""
    deal: int
    side: Side
    seat: Seat | None
    person: str | None = None
    answer: PenaltyChoice | None = None
    penalty: str
    penalty_en: str
    penalty_zh: str
    article: str | None
    needs: Literal["referee", "chief"]
    state: Literal["proposed", "decided", "rejected"]
    by: str
    approved_by: str | None = None
    rejected_by: str | None = None
    verbal: bool = False
    entered_by: str | None = None
    confirmed_by: str | None = None
    rejection_entered_by: str | None = None
    decided: Words | None = None
    rejected: Words | None = None
    changed_from: Words | None = None
    pointed_out_by: str | None = None
    pointed_out_when: str | None = None
    harmed: bool = False
    settled_by_players: str | None = None
    lapse_disputed: bool = False
    lapses: tuple[LapseView, ...] = ()
    charge: dict[str, Any] | None = None
    at_ms: int | None = None
    ended_ms: int | None = None


def build_ruling_views(
    profile: GuandanProfile, record: RulingRecord, rulings: Iterable[PublicRuling], deal: int
) -> list[RulingView]:
    """Return the rulings of a match, oldest first: as entries tell them, else as the state does.

    `deal` is played now: what a ruling does to an earlier one is said with that deal's number.

    The state's word on whether a ruling is open stands over an entry that is still on its way.
    """
    newest = {ruling.id: ruling for ruling in rulings}
    views = [_view_of_case(profile, case, newest.pop(case.id, None), deal) for case in record.cases]
    return [
        _with_deciders(one)
        for one in (*views, *(_view_of_state(ruling) for ruling in newest.values()))
    ]


def _view_of_state(ruling: PublicRuling) -> RulingView:
    return RulingView(**msgspec.structs.asdict(ruling))


def _with_deciders(view: RulingView) -> RulingView:
    """Return a ruling with who decided it in words."""
    decided = (
        None if view.approved_by is None else decided_by_words(view.approved_by, view.entered_by)
    )
    rejected = (
        None
        if view.rejected_by is None
        else decided_by_words(view.rejected_by, view.rejection_entered_by)
    )
    return msgspec.structs.replace(view, decided=decided, rejected=rejected)


def _view_of_case(
    profile: GuandanProfile, case: RulingCase, newest: PublicRuling | None, deal: int
) -> RulingView:
    charge, proposal, row = case.charge, case.proposal, find_offence(case.charge.offence)
    before = case.changed_from
    penalty = penalty_words(proposal.penalty, proposal.effects)
    kind = next((kind for kind in row.kinds if kind.id == charge.kind), None)
    view = RulingView(
        id=case.id,
        offence=charge.offence,
        offence_en=row.en,
        offence_zh=row.zh,
        kind_en=kind.en if kind else "",
        kind_zh=kind.zh if kind else "",
        deal=charge.deal,
        side=charge.side,
        seat=charge.seat,
        person=charge.person,
        answer=build_penalty_choice(proposal, charge.deal if charge.deal < deal else None),
        penalty=proposal.penalty,
        penalty_en=penalty.en,
        penalty_zh=penalty.zh,
        article=proposal.article,
        needs=proposal.needs,
        state=case.state,
        by=case.by,
        approved_by=case.approved_by,
        rejected_by=case.rejected_by,
        verbal=case.verbal,
        entered_by=case.entered_by,
        confirmed_by=case.confirmed_by,
        rejection_entered_by=case.rejection_entered_by,
        changed_from=penalty_words(before.penalty, before.effects) if before else None,
        pointed_out_by=charge.pointed_out_by,
        pointed_out_when=charge.pointed_out_when,
        harmed=charge.harmed,
        settled_by_players=charge.settled_by_players,
        lapse_disputed=charge.lapse_disputed,
        lapses=tuple(_lapses(profile, charge)),
        charge=_charge_args(charge),
        at_ms=case.at_ms,
        ended_ms=case.ended_ms,
    )
    if newest is None or newest.state == view.state:
        return view
    said = {name: getattr(newest, name) for name in _STATE_FIELDS}
    return msgspec.structs.replace(view, answer=None, **said)


_STATE_FIELDS: Final = (
    "state",
    "penalty",
    "penalty_en",
    "penalty_zh",
    "article",
    "needs",
    "approved_by",
    "rejected_by",
    "verbal",
    "entered_by",
    "confirmed_by",
    "rejection_entered_by",
)


def _lapses(profile: GuandanProfile, charge: Charge) -> Iterable[LapseView]:
    for reason in lapse_reasons(charge):
        text = lapse_words(reason, charge)
        article = lapse_article(profile, reason)
        yield LapseView(reason=reason, en=text.en, zh=text.zh, article=article)


_CHARGE_FIELDS: Final = (
    "offence",
    "seat",
    "side",
    "person",
    "deal",
    "pointed_out_by",
    "pointed_out_when",
    "outsider_first",
    "acted_first",
    "exploited",
    "lapse_disputed",
    "settled_by_players",
    "harmed",
    "kind",
    "step",
)


def _charge_args(charge: Charge) -> dict[str, Any]:
    """Return a charge as the command `rulings` takes it, to ask again what it can lead to."""
    said = {name: getattr(charge, name) for name in _CHARGE_FIELDS} | {"offence_ms": charge.at_ms}
    return {name: value for name, value in said.items() if value not in (None, False)}

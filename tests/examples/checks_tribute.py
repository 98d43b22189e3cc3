"""Tribute and return; asked in the examples 08–10, 21–35 and 87."""

from controller.cards import face_text, parse_face
from controller.match import match_events
from controller.match.phase import MatchPhase
from controller.messages import Seat
from controller.rules.deal_result import parse_finish
from controller.rules.profile import GuandanProfile
from controller.rules.tribute import chooser_of_tribute, is_right_tribute, tribute_choices
from controller.rules.tribute_returns import (
    judge_return,
    remedy_for_wrong_card,
    return_rule,
    return_visibility,
)
from tests.examples.table import GRADES, Table, arrows, faces, order_of

Got = dict[str, object]

RETURNED = {"any": "any", "ten": "10 or less", "ten_advised": "any, above 10 with a word"}


def card_due(profile: GuandanProfile, *, level: str, hand: str) -> Got:
    """What a payer's hand owes, in a deal at this level, and who says which of equal ones."""
    held = faces(hand)
    due = tribute_choices(profile, held, GRADES.index(level) + 2)
    right = {
        card for card in held if is_right_tribute(profile, held, GRADES.index(level) + 2, card)
    }
    assert right == due
    return {
        "due": [face_text(card) for card in sorted(due)],
        "named_by": chooser_of_tribute(profile, "E", "N", 13),
    }


def exchange(
    profile: GuandanProfile,
    *,
    previous: str,
    hands: dict[Seat, str],
    up_takes: Seat | None = None,
    returned: dict[Seat, str] | None = None,
) -> Got:
    """The second deal after `previous`, with these cards: tribute, returns and leader.

    `up_takes`: whose card UP takes where he may choose. `returned`: what each payer gets back.
    """
    table = Table(profile).deals([previous])
    table.release().count().tribute(hands)
    swapped = table.match.exchange
    assert swapped is not None
    owed = parse_finish(order_of(previous))
    if swapped.anti:
        assert table.match.phase is MatchPhase.PLAY
        return {"anti": True, "tribute": [], "returns": [], "leader": table.match.leader}
    if up_takes is not None:
        table.do(match_events.TributeChosen, payer=up_takes)
        swapped = table.match.exchange
        assert swapped is not None
    plan = swapped.plan
    assert plan is not None
    values = {seat: GRADES.index(rank) + 2 for seat, rank in (returned or {}).items()}
    table.returns(values)
    assert table.match.phase is MatchPhase.PLAY
    return {
        "anti": False,
        "tribute": arrows(plan.payments),
        "returns": arrows(plan.returns),
        "leader": table.match.leader,
        "cards": {payer: _due(table, hands[payer]) for payer in swapped.payers},
        "may_return": [RETURNED[return_rule(profile, owed, *pair)] for pair in plan.returns],
        "shown": return_visibility(profile, owed),
    }


def _due(table: Table, hand: str) -> str:
    due = tribute_choices(table.profile, faces(hand), table.match.level)
    return " ".join(face_text(card) for card in sorted(due))


def returned(
    profile: GuandanProfile, *, previous: str, level: str, card: str, before_play: bool = True
) -> Got:
    """UP gives `card` back to the one payer of `previous`: the verdict, and what it costs."""
    owed = parse_finish(order_of(previous))
    assert owed.last is not None
    verdict = judge_return(
        profile, owed, owed.up, owed.last, parse_face(card), GRADES.index(level) + 2
    )
    remedy = remedy_for_wrong_card(profile, "return", in_play=not before_play)
    wrong = verdict.state == "wrong"
    return {
        "verdict": verdict.state,
        "article": verdict.article,
        "then": remedy.action if wrong else "nothing",
        "penalty": remedy.penalty if wrong else "none",
        "penalty_article": remedy.article if wrong else None,
        "proposed": _proposed(profile, previous) if wrong else "none",
    }


def _proposed(profile: GuandanProfile, previous: str) -> str:
    """What the desk proposes for a wrong return before the first lead."""
    table = Table(profile).deals([previous])
    table.release().count().tribute()
    up = order_of(previous)[0]
    return table.propose("wrong_return", up).penalty

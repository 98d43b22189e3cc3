"""Penalties that change a match; asked in the examples 20, 36, 40–43 and 84–86."""

from typing import Any

from controller.match import match_events
from controller.match.match_effects import DealDue
from controller.match.phase import MatchPhase
from controller.match.sheet_rows import DealRow
from controller.messages import Role, Seat
from controller.rules.deal_result import FinishOrder, ForfeitedDeal
from controller.rules.profile import GuandanProfile
from tests.examples.table import GRADES, Table, grades, order_of, refusal

Got = dict[str, object]
Said = dict[str, Any]
"""An offence with what else its charge has, as `seat` and `step`."""


def forfeited(
    profile: GuandanProfile,
    *,
    before: list[str],
    charges: list[Said],
    names: Seat,
    names_wrongly: Seat,
) -> Got:
    """Rulings in one deal, of which the last is a foul: before and after the chief approves it.

    `names`: who then is named to lead the next deal, `names_wrongly`: whom they may not name.
    """
    table = Table(profile).deals(before).play()
    *first, last = charges
    for charge in first:
        table.propose(**charge)
        assert table.approve(Role.REFEREE) == ""
    at, sheet = table.levels, table.match.sheet
    proposal = table.propose(**last)
    refused = table.approve(Role.REFEREE)
    waiting = {"levels": table.levels, "phase": table.match.phase, "sheet": table.match.sheet}
    assert waiting == {"levels": at, "phase": MatchPhase.PLAY, "sheet": sheet}
    approved = table.approve(Role.CHIEF)
    row = table.last_deal
    assert isinstance(row.result, ForfeitedDeal)
    assert table.match.phase is MatchPhase.FORFEIT
    got: Got = {
        "from": at,
        "proposed": proposal.penalty,
        "needs": proposal.needs,
        "article": proposal.article,
        "referee_alone": refused,
        "chief": approved or "in force",
        "lost_by": row.result.loser,
        "counts_as": row.result.result_class,
        "to": table.levels,
        "named_wrongly": refusal(table.tell(match_events.LeaderNamed, seat=names_wrongly)),
    }
    return got | _next_deal(table, names)


def _next_deal(table: Table, names: Seat) -> Got:
    """The deal after a forfeited one, up to its first lead."""
    told = table.do(match_events.LeaderNamed, seat=names)
    due = table.match.duties
    assert due is not None
    assert any(isinstance(effect, DealDue) for effect in told)
    level = GRADES[table.match.level - 2]
    table.release().count()
    return {
        "next_at": level,
        "next_cutters": list(due.cutters),
        "next_tribute": table.match.exchange is not None,
        "next_leader": table.match.leader if table.match.phase is MatchPhase.PLAY else "open",
    }


def fouls(profile: GuandanProfile, *, before: list[str], charges: list[Said]) -> Got:
    """Fouls in one deal after the other, each approved by the chief; N leads what follows."""
    table = Table(profile).deals(before)
    at = table.levels
    proposed = []
    for charge in charges:
        table.play()
        proposed.append(table.propose(**charge).penalty)
        assert table.approve(Role.REFEREE) == "NEEDS_CHIEF"
        assert not table.over
        levels = table.levels
        assert table.approve(Role.CHIEF) == ""
        if table.match.phase is MatchPhase.FORFEIT:
            table.do(match_events.LeaderNamed, seat="N")
    return {"from": at, "proposed": proposed, "levels": levels, **table.ending}


def shifts(profile: GuandanProfile, *, before: list[str], charges: list[Said]) -> Got:
    """Penalties within one deal, each decided by whom it needs; the deal goes on if it can."""
    table = Table(profile).deals(before).play()
    at, level, sheet = table.levels, table.match.level, len(table.match.sheet)
    proposed, needs, after = [], [], []
    for charge in charges:
        proposal = table.propose(**charge)
        proposed.append(proposal.penalty)
        needs.append(proposal.needs)
        unmoved = table.levels
        if proposal.needs == "chief":
            assert table.approve(Role.REFEREE) == "NEEDS_CHIEF"
            assert table.levels == unmoved
        assert table.approve(Role.CHIEF if proposal.needs == "chief" else Role.REFEREE) == ""
        after.append(table.levels)
    goes_on = table.match.phase is MatchPhase.PLAY
    if goes_on:
        assert table.match.level == level
        assert not any(isinstance(row, DealRow) for row in table.match.sheet[sheet:])
    return {
        "from": at,
        "proposed": proposed,
        "needs": needs,
        "to": after,
        "goes_on": goes_on,
        **table.ending,
    }


def dead_hand(
    profile: GuandanProfile,
    *,
    previous: str,
    offender: Seat,
    out_before: str,
    out_after: str,
    entered: str = "",
) -> Got:
    """A wrong tribute is found in play: who goes out before and after the chief rules on it.

    `entered`: the order that the referee enters in the end, where he does.
    """
    table = Table(profile).deals([previous])
    at = table.levels
    table.play()
    for seat in order_of(out_before):
        table.do(match_events.OutConfirmed, seat=seat)
    proposal = table.propose("wrong_tribute_in_play", offender)
    order = table.match.places
    refused = table.approve(Role.REFEREE)
    assert table.match.places == order
    assert table.match.dead == ()
    assert table.approve(Role.CHIEF) == ""
    plays_again = refusal(table.tell(match_events.OutConfirmed, seat=offender))
    for seat in order_of(out_after):
        table.do(match_events.OutConfirmed, seat=seat)
    if entered:
        table.do(match_events.ResultEntered, order=order_of(entered))
    assert table.match.phase is MatchPhase.RESULT
    table.do(match_events.ResultConfirmed, by="NS")
    table.do(match_events.ResultConfirmed, by="EW")
    row = table.last_deal
    assert isinstance(row.result, FinishOrder)
    return {
        "from": at,
        "needs": proposal.needs,
        "article": proposal.article,
        "referee_alone": refused,
        "offender_goes_out": plays_again,
        "dead": " ".join(row.dead),
        "order": " ".join(row.result.places),
        "class": row.result.result_class,
        "to": grades(row.levels),
    }

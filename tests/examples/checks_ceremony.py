"""Before the cards: cut, turn-up, who draws first; asked in the examples 01–12, 44 and 83."""

from controller.deal import sequence
from controller.match import match_events
from controller.match.match_effects import DealDue
from controller.match.phase import MatchPhase
from controller.messages import Seat
from controller.rules.deal_duties import cut_problem, drawer_of_card
from controller.rules.profile import GuandanProfile
from tests.examples.table import Table, order_of, refusal

Got = dict[str, object]


def turn_up(profile: GuandanProfile, *, shuffler: Seat, cutter: Seat, cards: list[str]) -> Got:
    """The first deal by hand, once for each card: who draws first, which do not count."""
    drawers: dict[str, Seat | None] = {}
    again: list[str] = []
    for card in cards:
        table = Table(profile)
        table.draw(shuffler, cutter, card)
        drawers[card] = table.match.first_drawer
        if table.match.phase is MatchPhase.CUT:
            again.append(card)
    return {"first_drawer": [drawers[card] for card in cards if drawers[card]], "again": again}


def drawn(profile: GuandanProfile, *, first_drawer: Seat, positions: list[int]) -> Got:
    """Who draws these cards where hands are drawn by hand."""
    return {"lands_on": [drawer_of_card(profile, first_drawer, position) for position in positions]}


def leads_by_hand(
    profile: GuandanProfile, *, shuffler: Seat, cutter: Seat, card: str, position: int
) -> Got:
    """The first deal drawn by hand: where the turned-up card lands, and who leads."""
    table = Table(profile)
    table.draw(shuffler, cutter, card)
    first = table.match.first_drawer
    assert first is not None
    lands_on = drawer_of_card(profile, first, position)
    table.do(match_events.HandsDealt, turned_to=lands_on)
    table.count().end("NS R12")
    row = table.last_deal
    return {"lands_on": lands_on, "leader": row.leader, "first_drawer": row.first_drawer}


def leads_by_machine(profile: GuandanProfile, *, commitment: str, seed: str, cut: int) -> Got:
    """The same from a machine: its sequence knows the seat, and nobody draws first."""
    drawn_from = bytes.fromhex(commitment), bytes.fromhex(seed), cut, profile.deck.cards
    position = next(sequence.turn_up_places(*drawn_from))
    lands_on = sequence.sequence(*drawn_from)[position - 1]
    table = Table(profile)
    table.do(match_events.SetCut, seat="S", n=cut)
    table.do(match_events.HandsDealt, turned_to=lands_on)
    table.do(match_events.HandsReleased)
    table.count()
    leader, first_drawer = table.match.leader, table.match.first_drawer
    table.end("NS R12")
    assert table.last_deal.leader == leader
    return {
        "position": position,
        "lands_on": lands_on,
        "leader": leader,
        "first_drawer": first_drawer or table.last_deal.first_drawer or "nobody",
    }


def duties(profile: GuandanProfile, *, previous: str) -> Got:
    """The second deal drawn by hand: who shuffles, cuts and draws first."""
    table = Table(profile).deals([previous])
    table.do(match_events.HandDealOrdered, reason="the machine is broken")
    due = table.match.duties
    assert due is not None
    return {
        "shufflers": list(due.shufflers),
        "cutters": list(due.cutters),
        "first_drawer": due.first_drawer,
    }


def cuts(profile: GuandanProfile, *, packets: list[int]) -> Got:
    """Packets taken off before the second deal, which UP cuts: the legal ones."""
    legal = []
    for packet in packets:
        table = Table(profile).deals(["NS R13"])
        up = order_of("NS R13")[0]
        code = refusal(table.tell(match_events.SetCut, seat=up, n=packet))
        assert code in ("", "ILLEGAL_CUT")
        assert (cut_problem(profile, packet) is None) == (not code)
        if not code:
            assert table.match.phase is MatchPhase.DEALING
            legal.append(packet)
    return {"legal": legal}


def recount(
    profile: GuandanProfile, *, before: list[str], counts: dict[Seat, int], after: str = "release"
) -> Got:
    """A claimed count: what the referee's four counts lead to, and what stays as it was."""
    table = Table(profile).deals(before)
    duties_before, follows = table.match.duties, table.match.follows
    levels, number = table.levels, table.match.deal
    table.release()
    if after == "count":
        table.count()
    table.do(match_events.CountClaimed, seat="E")
    assert table.match.suspended
    waited_for = table.match.phase
    effects = table.do(match_events.HandsRecounted, counts=counts)
    again = [effect for effect in effects if isinstance(effect, DealDue)]
    same = {
        "levels": table.levels == levels,
        "deal": table.match.deal == number and all(due.deal == number for due in again),
        "duties": table.match.duties == duties_before,
        "result before": table.match.follows == follows,
    }
    if again:
        assert table.match.phase is MatchPhase.CUT
        table.play()
    else:
        assert table.match.phase is waited_for
    return {
        "again": bool(again),
        "set": profile.counting.misdeal,
        "same": [what for what, holds in same.items() if holds],
        "misdeals": table.match.misdeals,
        "turn_up_again": any(due.duties.turnup for due in again),
    }

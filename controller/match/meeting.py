"""Who plays a match, where and in which part of an event: what stands at a sheet's head."""

from typing import Literal

import msgspec

from controller.messages import Seat, Side
from controller.rules.seats import side_of

EventStage = Literal["swiss", "round_robin", "knockout"]


class MatchPair(msgspec.Struct, frozen=True):
    """Two partners: the pair's number, its name, and who sits where."""

    id: str
    name: str
    players: dict[Seat, str]


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """One match of an event. A match of the stage "knockout" must have a winner."""

    match_id: str
    event: str
    round: int
    match_no: int
    table_no: str
    stage: EventStage
    pairs: dict[Side, MatchPair]

    def player_name(self, seat: Seat) -> str:
        """Return the name of who sits at `seat`; the seat itself where nobody was named."""
        return self.pair_of(seat).players.get(seat, seat)

    def pair_of(self, seat: Seat) -> MatchPair:
        """Return the pair that has `seat`."""
        return self.pairs[side_of(seat)]

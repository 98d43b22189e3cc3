"""What only a chip can say to its core: a weak supply, lost edges, a technician at the door."""

import pytest

from drivers.firmware import protocol
from drivers.firmware.pins import LOST_EDGES
from tests.firmware.bench import ATTEMPT, DealerLine, ReaderLine


def lose(line: DealerLine | ReaderLine) -> None:
    """Have the HAL tell of lost edges."""
    line.pins._edges.append((line.now, LOST_EDGES, 3))
    line.step()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (protocol.BEGIN, (ATTEMPT + 1, 8, 2)),
        (protocol.SHUFFLE, (ATTEMPT, 1)),
        (protocol.FEED, (ATTEMPT, protocol.HOPPER, 8)),
        (protocol.RETRACT, ()),
        (protocol.PURGE, (ATTEMPT,)),
        (protocol.SELFTEST, ()),
        (protocol.RELEASE, (ATTEMPT,)),
    ],
)
def test_nothing_moves_while_the_supply_is_too_low(
    dealer: DealerLine, kind: int, fields: tuple[int, ...]
) -> None:
    dealer.begin()
    dealer.edge("supply", 1)
    assert dealer.do(kind, *fields) == protocol.SUPPLY_LOW
    assert not any(dealer.pins.runs(motor) for motor in ("feed", "pass", "shuffle"))


def test_a_supply_that_sags_stops_the_cards_and_says_why(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.feed()
    assert dealer.pins.runs("feed")
    dealer.edge("supply", 1)
    assert not dealer.pins.runs("feed")
    assert [event.place for event in dealer.said(protocol.STOPPED)] == [protocol.BY_SUPPLY]
    assert dealer.status()[-3] & protocol.SEES_SUPPLY_LOW
    dealer.edge("supply", 0)
    assert not dealer.pins.runs("feed")
    assert not dealer.status()[-3] & protocol.SEES_SUPPLY_LOW
    assert dealer.feed() == protocol.DONE
    assert dealer.pins.runs("feed")


def test_an_attempt_whose_edges_were_lost_is_never_released(dealer: DealerLine) -> None:
    dealer.deal()
    assert dealer.status()[-1] == 1
    lose(dealer)
    assert [event.place for event in dealer.said(protocol.STOPPED)] == [protocol.EDGES_LOST]
    assert dealer.status()[-1] == 0
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.NOT_LOCKED


def test_after_lost_edges_a_level_is_what_the_pin_says(dealer: DealerLine) -> None:
    dealer.begin()
    dealer.edge("gate_at", 3)
    dealer.pins.levels["gate_at"] = 1  # its edge is among the lost
    lose(dealer)
    assert dealer.board.level("gate_at") == 1


def test_a_reader_says_that_edges_were_lost(reader: ReaderLine) -> None:
    reader.hello()
    lose(reader)
    assert [event.place for event in reader.said(protocol.STOPPED)] == [protocol.EDGES_LOST]


def test_only_a_board_whose_shell_can_gives_the_chip_away(dealer: DealerLine) -> None:
    dealer.hello()
    assert dealer.do(protocol.SERVICE) == protocol.UNKNOWN
    dealer.board.allow_service()
    assert dealer.do(protocol.SERVICE) == protocol.DONE
    assert dealer.board.service_requested


@pytest.mark.parametrize("sees", ["window", "exit"])
def test_nobody_gets_a_board_with_a_card_in_its_path(dealer: DealerLine, sees: str) -> None:
    dealer.hello()
    dealer.board.allow_service()
    dealer.edge(sees, 1)
    assert dealer.do(protocol.SERVICE) == protocol.NOT_CLEAR
    assert not dealer.board.service_requested


def test_nobody_gets_a_board_between_the_first_card_and_the_released_hands(
    dealer: DealerLine,
) -> None:
    dealer.board.allow_service()
    dealer.deal()
    assert dealer.do(protocol.SERVICE) == protocol.NOT_CLEAR
    assert dealer.do(protocol.RELEASE, ATTEMPT) == protocol.DONE
    assert dealer.do(protocol.SERVICE) == protocol.BUSY
    dealer.edge("lift_down", 0)
    dealer.edge("lift", 1)
    assert dealer.do(protocol.SERVICE) == protocol.DONE


def test_a_pause_costs_nothing_while_a_card_is_held_or_falls(dealer: DealerLine) -> None:
    dealer.begin()
    assert dealer.board.can_pause()
    dealer.feed()
    assert not dealer.board.can_pause()
    dealer.edge("window", 1)
    assert dealer.board.can_pause()

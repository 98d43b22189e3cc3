"""What happens in a scripted match: who goes out, who has to say what, and what goes wrong."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from controller.messages import Seat
from controller.rules.profile import Profile
from tests.match.table import Table

Do = Callable[[Any], Awaitable[None]]
Expect = Callable[[Table], object]


@dataclass(frozen=True)
class Act:
    """Something beside the usual, once, as soon as the match is in phase `at`.

    `do` is what people do of it, `expect` what it is to a match by the rules alone. In play it
    waits for the first lead.
    """

    at: str
    do: Do
    expect: Expect


@dataclass(frozen=True)
class Deal:
    """One deal. `order`: who goes out, in turn. `let_out`: a referee has its hands released;
    `entered`: and he enters and confirms its result.

    `faults`: of the simulator's menu, struck before its attempts, one for each that fails.
    `names`: who leads after it, where it is forfeited. `chooses`: of equal tributes UP takes
    that of the first or second payer; `swap`: the losers swap their returns after such ones.
    `left`, `opens`, `doubles`: Big Two's.
    """

    order: str = ""
    acts: tuple[Act, ...] = ()
    entered: bool = False
    let_out: bool = False
    faults: tuple[str, ...] = ()
    uncut: bool = False
    names: Seat | None = None
    chooses: int | None = None
    swap: bool = False
    left: dict[Seat, int] = field(default_factory=dict)
    opens: str = ""
    doubles: str = ""


@dataclass(frozen=True)
class Script:
    """One match by a rulebook, deal after deal; one more than was expected is an error."""

    profile: Profile
    deals: tuple[Deal, ...]
    stage: Any = "swiss"
    seated: tuple[Act, ...] = ()

    def deal(self, number: int) -> Deal:
        """Return the deal of that number, from 1 on."""
        assert number <= len(self.deals), f"the match went on into deal {number}"
        return self.deals[max(number, 1) - 1]

    def acts(self, deal: int, phase: str) -> list[tuple[tuple[int, int], Act]]:
        """Return what is due in a phase of a deal, each with what it is known by."""
        if deal == 0:
            found = [((0, n), act) for n, act in enumerate(self.seated)]
        else:
            found = [((deal, n), act) for n, act in enumerate(self.deal(deal).acts)]
        return [(key, act) for key, act in found if act.at == phase]


@dataclass(frozen=True)
class Hands:
    """Four hands as they lay in the pockets, by seat, in faces, before anybody took them."""

    deal: int
    attempt: int
    faces: dict[Seat, tuple[int, ...]]

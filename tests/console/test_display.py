"""The small screen at a table: what it may be made of, and that its buttons are taken."""

import asyncio
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from msgspec import inspect

from controller.commands.registry import COMMANDS
from controller.console.freshness import Freshness
from controller.console.view.display_seats import SeatButton
from controller.console.view.table_display import DisplayView, build_display
from controller.match.phase import MatchPhase as Stage
from controller.messages import MachinePhase, PublicMatch, PublicState, Role, Seat
from controller.seats import SEATS
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process
from tests.console.states import alert, call, state
from tests.simulated_players import PlayerDurations, SimulatedPlayers

DISPLAY_COMMANDS = frozenset(
    {"seat", "cut", "confirm", "out", "call", "claim_count", "answer", "choose"}
)
"""All commands that a display may send to its table."""
SHOWN_FIELDS = frozenset(
    {
        "simulated",
        "mode",
        "machine.phase",
        "machine.deal",
        "machine.attempt",
        "machine.fed",
        "machine.ready_in_s",
        "machine.cutters",
        "machine.counter",
        "match.event",
        "match.round",
        "match.match_no",
        "match.table_no",
        "match.game",
        "match.phase",
        "match.phase_en",
        "match.phase_zh",
        "match.next_en",
        "match.next_zh",
        "match.waiting_for",
        "match.deal",
        "match.attempt",
        "match.by_hand",
        "match.extra",
        "match.pairs",
        "match.seated",
        "match.suspended",
        "match.levels",
        "match.level",
        "match.owner",
        "match.cut_range",
        "match.leader",
        "match.led",
        "match.turned_up",
        "match.tribute.payers",
        "match.tribute.laid",
        "match.tribute.payments",
        "match.tribute.returns.giver",
        "match.tribute.returns.to",
        "match.tribute.returns.rule",
        "match.tribute.given",
        "match.tribute.equal",
        "match.tribute.choice_open",
        "match.tribute.chooser",
        "match.choices.asked",
        "match.outs",
        "match.order",
        "match.dead",
        "match.clock",
        "match.announced",
        "match.clocks",
        "fairness.deal",
        "fairness.attempt",
        "fairness.commitment",
        "fairness.cut",
        "fairness.uncut",
        "fairness.reveal",
        "calls.seat",
        "calls.reason",
    }
)
"""The fields of a state from which a display may be made. From `fairness.reveal` it may only use
whether it is there. A test changes each other field and checks that the display stays the same."""

BRISK: Final = PlayerDurations(
    load=(2, 3), count=(2, 3), exchange=(1, 2), play=(3, 5), confirm=(1, 2)
)
"""People who lose no time."""
CLOCK: Final = {"left_s": 20, "running": True}
PAID: Final = {"giver": "E", "to": "N", "card": "SJ"}
TRIBUTE: Final = {
    "payers": ["E"],
    "anti": False,
    "laid": ["E"],
    "required": {"E": "SJ"},
    "payments": [PAID],
    "returns": [{"giver": "N", "to": "E", "rule": "ten", "card": "5"}],
    "returns_shown": "open",
    "given": ["N"],
    "equal": True,
    "choice_open": True,
    "chooser": "N",
}
PROOF: Final = {
    "deal": 2,
    "attempt": 1,
    "commitment": "ab" * 32,
    "cut": 40,
    "uncut": False,
    "hands": "cd" * 32,
    "outcome": "ok",
    "reasons": ["JAM"],
    "recalled": ["COUNT_CLAIM"],
}
REVEALED: Final = PROOF | {"reveal": {"seed": "ef" * 32, "cut": 40}}


def scenes() -> Iterator[PublicState]:
    """Yield tables in every phase, full of all that a state can hold."""
    full: dict[str, Any] = {
        "tribute": TRIBUTE,
        "choices": {"asked": "doubling", "opened": ["N"], "doubled": ["W"]},
        "turned_up": "♠7",
        "leader": "E",
        "outs": ["N"],
        "order": ["W"],
        "dead": ["S"],
        "left": {"N": 1, "W": 2, "S": 3, "E": 4},
        "clock": {"left_s": 90, "running": True, "deadline_ms": 90_000},
        "clocks": [{"duty": "play", "seat": "E", "side": None} | CLOCK],
        "area_stop": {"since_ms": 1, "reason": "x", "by": "x"},
        "announced": "last_deal",
        "signed": [{"signer": "NS", "person": "Nan"}],
        "cutters": ["N"],
        "cut_range": [6, 102],
        "claimed": "W",
        "points": {"NS": 3, "EW": 1},
        "totals": dict.fromkeys(SEATS, 1),
        "hand_duties": {"shufflers": ["N"], "shuffles": [1, 3], "turnup": True},
        "verdict": {"winner": "NS", "how": "x", "how_en": "x", "how_zh": "x"},
        "score": {"total": {"NS": 1, "EW": 2}},
        "spoken": [{"row": 1, "deal": 2, "by": "Chen", "entered_by": "Li Na", "reason": "x"}],
    }
    dealing = {"phase": "dealing", "ready_in_s": 3.5, "cutters": ["N"], "refed": 2, "fed": 50}
    tables: tuple[tuple[dict[str, Any], Stage, dict[str, Any]], ...] = (
        *((dealing, stage, {}) for stage in Stage),
        (dealing, Stage.PLAY, {"led": True}),
        (dealing, Stage.RETURN, {"tribute": TRIBUTE | {"given": []}}),
        (dealing | {"phase": "committed", "counter": 40}, Stage.CUT, {}),
    )
    for machine, stage, more in tables:
        yield state(
            machine,
            match=full | {"phase": stage.value, "led": False, "waiting_for": ["N", "S"]} | more,
            fairness=[REVEALED],
            calls=[call("button", seat="E")],
            alerts=[alert("JAM")],
        )


def shown_of(one: PublicState) -> Any:
    return msgspec.to_builtins(build_display(one, Freshness.LIVE, 0))


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every place of JSON with what stands there, the whole of lists and tables too."""
    yield path, value
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    if isinstance(value, list):
        for at, one in enumerate(value):
            yield from leaves(one, (*path, str(at)))


def changed(whole: Any, path: tuple[str, ...], value: Any) -> Any:
    if not path:
        return value
    at: Any = int(path[0]) if isinstance(whole, list) else path[0]
    copy = list(whole) if isinstance(whole, list) else dict(whole)
    copy[at] = changed(whole[at], path[1:], value)
    return copy


def field(path: tuple[str, ...]) -> str:
    """Return a place as SHOWN names it: without numbers, seats and sides."""
    return ".".join(one for one in path if not one.isdigit() and one not in (*SEATS, "NS", "EW"))


OTHERS: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, 7, 11.5, "x", "7", "N", "W", "E", "NS", "EW", "ok", "misdeal", "test",
    "play", "setup", "return", "committed", "held", "fault", "open", "secret", "ten", "any",
    "open_hand", "bigtwo", "chief", "referee", "rejected", "knockout", "tribute", [],
    ["W"], ["E", "S"], [6, 7], {}, {"N": "5"}, "2028-01-01T00:00:10.000+00:00",
)  # fmt: skip


def other_states(one: PublicState) -> Iterator[tuple[str, PublicState]]:
    """Yield the state with one place changed at a time, whatever fits there, and which."""
    whole = msgspec.to_builtins(one)
    for path, before in leaves(whole):
        for other in OTHERS:
            if path and other != before:
                try:
                    yield field(path), msgspec.convert(changed(whole, path, other), PublicState)
                except msgspec.ValidationError:
                    continue


def allowed(place: str) -> bool:
    return any(place == one or place.startswith(f"{one}.") for one in SHOWN_FIELDS)


def holds_allowed(place: str) -> bool:
    """Tell whether a place is a whole that holds something which may be shown."""
    return any(one.startswith(f"{place}.") for one in SHOWN_FIELDS)


@pytest.fixture(scope="module")
def moved() -> tuple[set[str], set[str]]:
    """Places that were changed, and those whose change was seen on the display."""
    tried: set[str] = set()
    seen: set[str] = set()
    for one in scenes():
        before = shown_of(one)
        for place, other in other_states(one):
            tried.add(place)
            if shown_of(other) != before:
                seen.add(place)
    return tried, seen


def test_nothing_but_the_fields_of_the_list_moves_a_display(
    moved: tuple[set[str], set[str]],
) -> None:
    _, seen = moved
    assert [one for one in sorted(seen) if not allowed(one) and not holds_allowed(one)] == []


def test_every_field_of_the_list_moves_a_display(moved: tuple[set[str], set[str]]) -> None:
    _, seen = moved
    assert sorted(one for one in SHOWN_FIELDS if one not in seen) == []


def test_every_field_of_a_state_was_tried(moved: tuple[set[str], set[str]]) -> None:
    tried, _ = moved
    places = {field(tuple(place.split("."))) for place in fields(inspect.type_info(PublicState))}
    missed = places - tried
    assert missed == set(), ", ".join(sorted(missed))


def fields(kind: inspect.Type, place: str = "") -> Iterator[str]:
    """Yield all places of a type."""
    if isinstance(kind, inspect.StructType):
        for one in kind.fields:
            name = f"{place}.{one.encode_name}".strip(".")
            if name not in ("schema", "signed", "release", "boards"):  # not of the table itself
                if not isinstance(one.type, inspect.StructType):  # its own fields are
                    yield name
                yield from fields(one.type, name)
    elif isinstance(kind, inspect.UnionType):
        for part in kind.types:
            yield from fields(part, place)
    elif isinstance(kind, inspect.ListType):
        yield from fields(kind.item_type, place)
    elif isinstance(kind, inspect.DictType):
        yield from fields(kind.value_type, place)


@pytest.mark.parametrize(
    "secret",
    ["machine.landed", "machine.refed", "match.tribute.required", "match.tribute.returns.card",
     "match.left", "fairness.hands", "fairness.reasons", "alerts", "sets"],
)  # fmt: skip
def test_what_tells_of_hands_or_pockets_is_not_on_the_list(secret: str) -> None:
    assert not allowed(secret)


def test_of_a_reveal_only_that_there_is_one_is_shown() -> None:
    told = shown_of(state(match={"phase": "over"}, fairness=[REVEALED]))
    assert told["proof"] == {"deal": 2, "attempt": 1}
    assert "ef" * 8 not in str(told)


@pytest.mark.parametrize("stage", sorted(set(Stage) - {Stage.OVER, Stage.SIGNED}))
def test_no_proof_is_offered_before_the_match_is_over(stage: str) -> None:
    assert shown_of(state(match={"phase": stage}, fairness=[REVEALED]))["proof"] is None


def test_the_commitment_is_short_and_in_fours() -> None:
    assert shown_of(state(fairness=[PROOF]))["commitment"] == "abab abab abab abab"


def test_while_a_cut_is_waited_for_the_commitment_is_that_of_the_set_which_it_cuts() -> None:
    ahead = PROOF | {"attempt": 2, "commitment": "12" * 32}
    told = shown_of(
        state({"phase": "committed", "attempt": 2, "counter": 40}, fairness=[PROOF, ahead])
    )
    assert told["commitment"] == "1212 1212 1212 1212"


def test_a_table_that_was_never_heard_shows_nothing_but_that() -> None:
    told = build_display(None, Freshness.CONNECTING, 5)
    assert told == DisplayView(standing=Freshness.CONNECTING, since_ms=5)


def test_a_display_asks_only_for_what_its_role_may() -> None:
    for_a_table = {
        cmd for cmd, order in COMMANDS.items() if order.signed and Role.TABLE in order.roles
    }
    assert for_a_table == DISPLAY_COMMANDS
    offered = {
        button.cmd
        for one in scenes()
        for seat in build_display(one, Freshness.LIVE, 0).seats
        for button in seat.buttons
    }
    assert offered | {"cut"} == DISPLAY_COMMANDS


def test_who_said_that_he_is_out_has_no_second_button_for_it_and_an_opponent_confirms() -> None:
    seats = {one.seat: one for one in build_display(state(), Freshness.LIVE, 0).seats}
    assert {seat: [one.say for one in at.buttons] for seat, at in seats.items()} == {
        "N": ["call"],
        "W": ["is_out", "out", "call"],
        "S": ["out", "call"],
        "E": ["is_out", "out", "call"],
    }
    assert seats["W"].buttons[0].of == "N"


def test_a_called_referee_is_not_called_again() -> None:
    seats = build_display(state(calls=[call("button", seat="E")]), Freshness.LIVE, 0).seats
    assert {one.seat for one in seats if one.called} == {"E"}
    assert {one.seat for one in seats if "call" in [b.cmd for b in one.buttons]} == {"N", "W", "S"}


class AtDisplay(SimulatedPlayers):
    """Players who press what their display offers, and nothing else."""

    refused: list[tuple[SeatButton, object]]
    pressed: set[str]

    def look(self) -> DisplayView:
        return build_display(self.table.states[-1], Freshness.LIVE, 0)

    async def press(self, seat: Seat, *says: str) -> None:
        """Press the first button of a seat that says one of these, where there is one."""
        at = next(one for one in self.look().seats if one.seat == seat)
        button = next((one for one in at.buttons if one.say in says), None)
        if button is None:
            return
        answer = await self.table.send_command(
            Role.TABLE, button.cmd, about=(button.deal, button.attempt), **button.args
        )
        self.pressed.add(button.say)
        await asyncio.sleep(0.2)  # before the next one looks at the screen
        if not answer.ok:
            self.refused.append((button, answer.error))

    async def _press_for_each(self, pause: tuple[float, float], cmd: str) -> None:
        await self._wait(pause)
        for seat in SEATS:
            await self.press(seat, "counted", "laid", "take")
            await self.press(seat, "returned", "result")

    async def _exchange(self) -> None:
        await self._press_for_each((1, 2), "confirm")

    async def _play_cards(self) -> None:
        deal = self.match.deal
        if self.match.leader is not None:
            await self.press(self.match.leader, "led")
        for seat in self._chance.sample(SEATS, k=4):
            if (self.match.deal, self.match.phase) != (deal, Stage.PLAY):
                return
            await self.press(seat, "out")
            await self.press(SEATS[(SEATS.index(seat) + 1) % 4], "is_out")

    async def _cut(self) -> None:
        cut = self.look().cut
        if cut is not None and cut.counter is not None:
            assert cut.least <= cut.counter <= cut.most
            seat = next(iter(cut.by), None)
            about = (cut.deal, cut.attempt)
            answer = await self.table.send_command(
                Role.TABLE, "cut", about=about, n=cut.counter, seat=seat
            )
            assert answer.ok, answer


@pytest.mark.virtual
async def test_a_match_is_played_by_what_the_display_offers_and_nothing_of_it_is_refused(
    runtime_dir: Path, scale: Callable[[int], int]
) -> None:
    async with run_table_in_process(MechanicsSettings(), runtime_dir, seed=5) as table:
        people = AtDisplay(table, random.Random(5), deal_ahead=False, durations=BRISK)
        people.refused, people.pressed = [], set()
        await people.begin_match("cup/1")
        assert await people.play(max(5, scale(100))) > 3
        match: PublicMatch = people.match
    assert people.refused == []
    assert match.deal
    assert people.pressed >= {"counted", "laid", "returned", "led", "out", "is_out", "result"}
    assert table.states[-1].machine.phase in set(MachinePhase)


def test_of_two_who_give_back_only_up_chooses_between_equal_tributes() -> None:
    """Both receivers give a card back (seed 003 R4.5); the other one's touch would be refused."""
    due = TRIBUTE | {"payers": ["W", "E"], "laid": ["W", "E"], "given": [], "chooser": "N"}
    match = {"phase": "return", "waiting_for": ["N", "S"], "tribute": due, "led": False}
    seats = build_display(state(match=match), Freshness.LIVE, 0).seats
    offered = {at.seat: [one.args for one in at.buttons if one.cmd == "choose"] for at in seats}
    assert offered == {"N": [{"payer": "W"}, {"payer": "E"}], "W": [], "S": [], "E": []}


def exchanging(phase: str, **tribute: Any) -> DisplayView:
    """The display of a table at which East owes North a card, or North owes one back."""
    clocks = [
        {"duty": phase, "seat": {"tribute": "E", "return": "N"}[phase], "side": None} | CLOCK,
        {"duty": "late", "seat": None, "side": "NS"} | CLOCK,
    ]
    owed = TRIBUTE | {"equal": False, "choice_open": False} | tribute
    match = {"phase": phase, "waiting_for": ["E"], "clocks": clocks, "tribute": owed, "led": False}
    return build_display(state(match=match), Freshness.LIVE, 0)


def test_a_tribute_that_is_waited_for_is_said_once_with_its_clock() -> None:
    shown = exchanging("tribute", laid=[], payments=[], returns=[], given=[])
    assert shown.exchange is not None
    (owed,) = shown.exchange.pays
    assert (owed.giver, owed.laid, shown.exchange.said) == ("E", False, True)
    assert owed.clock is not None
    assert owed.clock.duty == "tribute"
    assert [one.duty for one in shown.countdowns] == ["late"]


def test_a_return_that_is_waited_for_is_said_once_with_its_clock() -> None:
    shown = exchanging("return", given=[])
    assert shown.exchange is not None
    (owed,) = shown.exchange.gives
    assert shown.exchange.said
    assert owed.clock is not None
    assert [one.duty for one in shown.countdowns] == ["late"]
    assert [one.clock for one in shown.exchange.pays] == [None]


@pytest.mark.parametrize(
    ("phase", "tribute"),
    [("tribute", {"returns": []}), ("return", {"choice_open": True, "given": []})],
)
def test_what_no_line_of_an_exchange_says_is_said_beside_it(
    phase: str, tribute: dict[str, Any]
) -> None:
    """That the laid cards are compared, or that UP may choose, stands in the words alone."""
    shown = exchanging(phase, **tribute)
    assert shown.exchange is not None
    assert not shown.exchange.said


@pytest.mark.parametrize("phase", sorted(set(Stage) - {Stage.TRIBUTE, Stage.RETURN}))
def test_no_tribute_is_shown_but_while_it_is_exchanged(phase: str) -> None:
    assert (
        build_display(state(match={"phase": phase, "tribute": TRIBUTE}), Freshness.LIVE, 0).exchange
        is None
    )

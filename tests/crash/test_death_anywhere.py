"""A daemon dies behind any entry of its journal. The next one continues where it stopped.

Boards, cards and people stay. People ask again for what they asked for, under the same ids.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from controller.cards import composition
from controller.config import CardSetSection
from controller.journal.entries import JournalEntry
from controller.machine.state.table_match import TableMatch
from controller.match import match_events
from controller.match.match_state import GuandanMatch
from controller.match.reducer import replay_events
from controller.match.sheet_rows import DealRow
from controller.messages import PublicState, Role, Seat
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from controller.rules.tribute import has_anti_tribute, tribute_value
from controller.seats import SEATS
from controller.vault.dealt_hands import dealt_hand
from sim.hardware_in_process import HardwareInProcess
from sim.mechanics.mechanics_settings import BACKS, MechanicsSettings, PhysicalSet
from sim.mechanics.truth import Truth
from sim.tables.daemon_death import DaemonDeath
from sim.tables.table_in_process import TableInProcess
from tests.crash.deaths import AS_IT_GOES, AWAY_S, BEHIND_S, ENTRIES, FAULTS, evenly, in_a_row
from tests.crash.lives import Scene, Script
from tests.crash.match_people import a_match
from tests.crash.people import practice
from tests.match.table import INTL, varied
from tests.simulated_players import PlayerDurations, PlayerMistakes, SimulatedPlayers

pytestmark = pytest.mark.virtual

SEAMS = (
    *("opened", "seed", "committed", "cut", "command", "begun", "shuffled", "dealt", "hands_box"),
    *("held", "verdict", "released", "revealed", "record", "fault", "fault_cleared"),
)
"""Entries behind which a store could be torn within a step, were it not for its transactions."""
GLANCE_S = 0.2
TWO_SETS = (CardSetSection(id="S1", back="A"), CardSetSection(id="S2", back="B"))
WHOLE = [face for face, n in enumerate(composition(2, jokers=True)) for _ in range(n)]
DEALS_AHEAD = 3
DOUBLE_DOWN = (["N", "S"], ["W", "N", "E"])
"""The order in which players go out: after the first deal, W and E both pay tribute."""


@dataclass(frozen=True)
class Session:
    """People at a table, and the result that they reach whether or not its daemon dies.

    `entries`: about the number of entries of its journal; a death after the last one is none.
    `first`: the first entry behind which a daemon dies alone.
    `kills`, `rows`: the full numbers of runs with one death, and with several.
    """

    people: Callable[[int], Script]
    result: Callable[[Scene, Script], object]
    entries: int
    kills: int
    rows: int
    steps: tuple[int, ...]
    faults: tuple[str, ...] = ()
    sets: tuple[CardSetSection, ...] = ()
    seed: int | None = None
    first: int = 1
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def profile(self) -> Profile:
        """The rulebook of the table."""
        return self.options.get("profile") or load_profile(INTL)


class Ground:
    """Tables, each with a folder of its own."""

    def __init__(self, folder: Path, runtime_dir: Path) -> None:
        self._folder, self._runtime_dir, self._numbers = folder, runtime_dir, count()

    def scene(self, session: Session) -> Scene:
        """Set up a table. Its cards depend on its number, unless the session has a seed."""
        number = next(self._numbers)
        seed = number if session.seed is None else session.seed
        folder = self._folder / str(number)
        scene = Scene.new(session.faults, folder, self._runtime_dir, seed)
        if session.sets:
            boots = count(1)
            sets = tuple(PhysicalSet(one.id, BACKS[one.back]) for one in session.sets)
            scene.sim.close()
            scene.sim = HardwareInProcess(
                MechanicsSettings(sets=sets), random.Random(seed), boots=lambda: next(boots)
            )
        return scene

    async def ends(self, session: Session, *row: DaemonDeath) -> object:
        """Run a session with these deaths; assert what must hold, and return the result."""
        scene = self.scene(session)
        script = session.people(random.Random(str(row)).randrange(1000))
        await lived(scene, session, script, *row)
        return session.result(scene, script)


@pytest.fixture
def ground(tmp_path: Path, runtime_dir: Path) -> Ground:
    """Return a place for tables."""
    return Ground(tmp_path, runtime_dir)


async def lived(scene: Scene, session: Session, script: Script, *row: DaemonDeath) -> TableMatch:
    """Run a session through these deaths; assert what must hold, and return what was played."""
    lives: list[TableMatch] = []

    async def noted(scene: Scene, at: TableInProcess) -> None:
        lives.append(at.machine.record.match_written)
        try:
            await script(scene, at)
        finally:
            lives.append(at.machine.record.match_committed)

    try:
        for death in (*row, None):
            if await scene.live(noted, death, **session.options):
                break
        scene.check()
        entries, end = [item.entry for item in scene.entries()], scene.play(session.profile)
        times = [entry.data["at_ms"] for entry in entries if "at_ms" in entry.data]
        assert times == sorted(times)
        if not any(death.power_lost for death in row):
            for earlier, later in pairwise([*lives, end]):
                # Each daemon begins with what the one before it left. No event is lost or added.
                assert later.events[: len(earlier.events)] == earlier.events
        if isinstance(match := end.match, GuandanMatch):
            assert replay_events(match.profile, match.meeting, match.record, end.events) == match
        return end
    except BaseException as error:
        error.add_note(f"after {row}")
        raise
    finally:
        scene.sim.close()


# A practice deal with a misdeal, and a card that goes to the tray.


def how_attempts_ended(scene: Scene, script: Script) -> object:
    return [(outcome, reasons) for _, outcome, reasons in scene.outcomes() if outcome]


PRACTICE = Session(
    people=lambda seed: practice(1),
    result=how_attempts_ended,
    entries=ENTRIES,
    kills=600,
    rows=200,
    steps=(1, 2, 3, 7, 15, 30),
    faults=FAULTS,
)

# A match of two deals. The second has a misdeal, a card in the tray, two tributes, two returns.

TWO_DEALS = varied(INTL, ending={"method": "deals", "deals": 2})
_MAY_DIFFER = ("Ticked", "TributeLaid", "TributeValued", "ReturnLaid", "ReleaseOrdered")
"""Events that depend on the time or on the cards of a new attempt.

An order to release that was cut off from its event is carried out all the same.
"""


def facts(scene: Scene, script: Script) -> object:
    """Return what of a match depends neither on times nor on cards."""
    play = scene.play(TWO_DEALS)
    match = play.match
    assert isinstance(match, GuandanMatch)
    rows = [
        (row.deal, row.level, row.owner, row.result, row.cutter, row.cut, row.misdeals, row.levels)
        for row in match.sheet
        if isinstance(row, DealRow)
    ]
    happened = [event.__struct_config__.tag for event in play.events]
    return (
        *(rows, match.standing, match.score, [one.signer for one in match.signatures]),
        [name for name in happened if name not in _MAY_DIFFER],
        [outcome for _, outcome, _ in scene.outcomes() if outcome],
    )


MATCH = Session(
    people=lambda seed: a_match(FAULTS, DOUBLE_DOWN),
    result=facts,
    entries=170,
    kills=1000,
    rows=200,
    steps=(1, 5, 20, 40),
    seed=1,
    options={"profile": TWO_DEALS},
)

# Three deals of a match with two sets: one deal is played while the next one is dealt.


class Lasting(SimulatedPlayers):
    """People who outlive their daemons, and finish what their hands have begun."""

    scene: Scene
    releases: list[tuple[int | None, int | None]]
    wrong: list[str]

    async def collect(self, card_set: str | None) -> None:
        """Lay the cards back, whatever becomes of the daemon meanwhile."""
        await self.scene.with_hands(super().collect(card_set))

    def see(self, state: PublicState, truth: Truth) -> None:
        """Look at the hands as they come up: one whole set of one back, no others about."""
        cards = sum(truth.pockets[:4], ())
        self.releases.append((state.machine.deal, state.machine.attempt))
        if sorted(card.face for card in cards) != WHOLE or len({card.back for card in cards}) > 1:
            self.wrong.append(f"{state.machine}: no whole set")
        if any(truth.hands):
            self.wrong.append(f"{state.machine}: other hands are held")


class DealsAhead:
    """What people do with two sets, until the last deal is played."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.people: Lasting | None = None

    async def __call__(self, scene: Scene, at: TableInProcess) -> None:
        at._commands_made = 100_000 * len(scene.lives)  # nobody's ids come twice
        if self.people is None:
            pauses = PlayerDurations(play=(20, 40), count=(2, 5), load=(1, 3))
            mischief = PlayerMistakes(claims=0.2, redeals=0.1)
            self.people = Lasting(
                at, self._chance, deal_ahead=True, durations=pauses, mistakes=mischief
            )
            self.people.releases, self.people.wrong = [], []
            self.people._on_hands = self.people.see
        people = self.people
        people.table, people.scene = at, scene
        await at.wait_for_state(lambda state: state.machine.phase != "fault" or bool(state.alerts))
        if at.states[-1].match.phase in ("idle", "setup"):
            await people.begin_match("M1")
        await at.wait_for_state(lambda state: bool(state.match.deal))
        while (at.states[-1].match.deal or 0) <= DEALS_AHEAD:
            await people.play(1)


def hands_are_whole(scene: Scene, script: Script) -> object:
    assert isinstance(script, DealsAhead)
    assert script.people is not None
    return script.people.wrong, len(script.people.releases) >= DEALS_AHEAD


AHEAD = Session(
    people=DealsAhead,
    result=hands_are_whole,
    entries=190,
    kills=300,
    rows=50,
    steps=(20, 40, 60),
    sets=TWO_SETS,
    first=20,
    options={"card_sets": TWO_SETS, "deal_ahead": True},
)

SESSIONS = {"a practice deal": PRACTICE, "a match": MATCH, "deals ahead": AHEAD}
of_each_session = pytest.mark.parametrize("name", SESSIONS)


# One death of each kind, and then at every place.


async def test_a_practice_deal_has_what_a_daemon_is_killed_behind(ground: Ground) -> None:
    scene = ground.scene(PRACTICE)
    await lived(scene, PRACTICE, practice(1))
    assert how_attempts_ended(scene, practice(1)) == AS_IT_GOES
    assert {"wire", *SEAMS} <= {chained.entry.kind for chained in scene.entries()}
    assert len(scene.entries()) >= ENTRIES
    assert any(chained.entry.data.get("refed") for chained in scene.entries())


async def test_a_match_has_a_misdeal_a_tray_card_and_two_tributes(ground: Ground) -> None:
    scene = ground.scene(MATCH)
    script = MATCH.people(0)
    end = await lived(scene, MATCH, script)
    assert isinstance(end.match, GuandanMatch)
    first, second = (row for row in end.match.sheet if isinstance(row, DealRow))
    assert not first.tribute
    assert [event.__struct_config__.tag for event in end.events].count("TributeLaid") == 2
    assert second.misdeals == 1
    assert [outcome for _, outcome, _ in scene.outcomes() if outcome] == ["ok", "misdeal", "ok"]
    entries = [chained.entry for chained in scene.entries()]
    assert any(entry.data.get("refed") for entry in entries)
    assert {"match", "meeting", "command"} <= {entry.kind for entry in entries}
    assert 0.8 * MATCH.entries <= len(entries) <= MATCH.entries


@pytest.mark.parametrize(
    "row",
    [
        (DaemonDeath(8, 0.0, 0.0),),
        (DaemonDeath(12, 0.15, 30.0),),
        (DaemonDeath(20, 0.02, 0.3), DaemonDeath(23, 0.4, 2.0)),
    ],
    ids=["at once", "in the middle of a step, and long away", "twice"],
)
async def test_after_its_death_the_next_daemon_goes_on(
    row: tuple[DaemonDeath, ...], ground: Ground
) -> None:
    assert await ground.ends(PRACTICE, *row) == AS_IT_GOES


@pytest.mark.slow
@of_each_session
async def test_wherever_it_stood_the_next_daemon_goes_on(
    name: str, ground: Ground, scale: Callable[[int], int]
) -> None:
    session = SESSIONS[name]
    whole, script = ground.scene(session), session.people(0)
    await lived(whole, session, script)
    undisturbed = session.result(whole, script)
    committed = [each.entry.n for each in whole.entries() if each.entry.kind == "committed"]
    for death in evenly(scale(session.kills), session.first, session.entries):
        scene, script = ground.scene(session), session.people(death.entry)
        await lived(scene, session, script, death)
        assert session.result(scene, script) == undisturbed, death
        if session.seed is not None:  # the attempts that were committed keep their cards
            begun = sum(entry < death.entry for entry in committed)
            assert scene.commitments()[:begun] == whole.commitments()[:begun], death


@pytest.mark.slow
@of_each_session
async def test_however_often_it_dies_the_next_daemon_goes_on(
    name: str, ground: Ground, scale: Callable[[int], int]
) -> None:
    session = SESSIONS[name]
    undisturbed = await ground.ends(session)
    for number in range(scale(session.rows)):
        row = in_a_row(number, session.steps)
        assert await ground.ends(session, *row) == undisturbed, row


@pytest.mark.slow
async def test_two_sets_are_not_mixed_up_when_the_power_fails(
    ground: Ground, scale: Callable[[int], int]
) -> None:
    chance = random.Random("ahead and dark")
    for number in range(scale(AHEAD.kills)):
        death = DaemonDeath(
            chance.randrange(20, AHEAD.entries),
            chance.choice(BEHIND_S),
            chance.choice(AWAY_S),
            power_lost=True,
            boards_reset=number % 2 == 0,
        )
        assert await ground.ends(AHEAD, death) == ([], True), death


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEAMS)
async def test_a_step_that_was_half_written_is_taken_again(kind: str, ground: Ground) -> None:
    whole = ground.scene(PRACTICE)
    await lived(whole, PRACTICE, practice(1))
    for entry in (each.entry.n for each in whole.entries() if each.entry.kind == kind):
        assert await ground.ends(PRACTICE, DaemonDeath(entry)) == AS_IT_GOES, entry


# What the vault is asked for again.

TRIBUTES = replace(MATCH, people=lambda seed: a_match(orders=DOUBLE_DOWN))
"""The match without faults. With its seed, the second deal has no anti-tribute."""


def entries_with(scene: Scene, event: str) -> list[JournalEntry]:
    """Return the entries of one kind of event of a match."""
    return [item.entry for item in scene.entries() if item.entry.data.get("event") == event]


@pytest.mark.slow
@pytest.mark.parametrize("payer", [1, 2])
async def test_the_vault_answers_for_a_tribute_after_a_restart(payer: int, ground: Ground) -> None:
    """The daemon dies when the first, and when the second payer has laid a card."""
    first = ground.scene(TRIBUTES)
    await lived(first, TRIBUTES, TRIBUTES.people(0))
    laid = [entry.n for entry in entries_with(first, "TributeLaid")]
    assert len(laid) == 2
    scene, play = ground.scene(TRIBUTES), TRIBUTES.people(0)
    hands: dict[Seat, tuple[int, ...]] = {}

    async def noting(scene: Scene, at: TableInProcess) -> None:
        playing = asyncio.ensure_future(play(scene, at))
        try:
            while not playing.done():
                await asyncio.wait({playing}, timeout=GLANCE_S)
                out = at.machine.table_boards.hands_with_players.dealt_hands()
                if out is not None and at.states[-1].match.deal == 2:
                    known = (out.vault, out.sequence)
                    hands.update({seat: tuple(dealt_hand(*known, seat)) for seat in SEATS})
            playing.result()
        finally:
            playing.cancel()

    end = await lived(scene, TRIBUTES, noting, DaemonDeath(laid[payer - 1], 0.0, 1.0))
    assert isinstance(end.match, GuandanMatch)
    (valued,) = [event for event in end.events if isinstance(event, match_events.TributeValued)]
    level = 5
    assert not has_anti_tribute(end.match.profile, ("E", "W"), hands)
    assert valued.values == {
        seat: tribute_value(end.match.profile, hands[seat], level) for seat in valued.values
    }
    boots = {entry.boot for entry in entries_with(scene, "TributeValued")}
    assert boots == {scene.entries()[-1].entry.boot}


@pytest.mark.slow
async def test_after_a_power_cut_the_referee_answers_for_the_vault(ground: Ground) -> None:
    """The hands are out, and their key is lost: the referee decides on the tributes."""
    first, play = ground.scene(TRIBUTES), TRIBUTES.people(0)
    await lived(first, TRIBUTES, play)
    counted = [entry.n for entry in entries_with(first, "Counted")]
    dark = DaemonDeath(counted[-1], 0.0, 1.0, power_lost=True)

    async def by_referee(scene: Scene, at: TableInProcess) -> None:
        async def seen(phase: str) -> None:
            await at.wait_for_state(lambda state: state.match.phase == phase)

        if len(scene.lives) == 1:
            return await play(scene, at)
        await at.wait_for_state(lambda state: any(a.name == "HANDS_UNKNOWN" for a in state.alerts))
        for seat in list(at.states[-1].match.waiting_for):
            await scene.order(at, f"counts {seat}", Role.TABLE, "confirm", seat=seat)
        await seen("anti_check")
        await scene.order(at, "anti", Role.REFEREE, "anti", stands=False)
        for payer in ("E", "W"):
            await scene.order(at, f"lays {payer}", Role.TABLE, "confirm", seat=payer)
        await seen("tribute")
        said = {"seat": "E", "card": "HA", "other": "DK"}
        await scene.order(at, "tribute", Role.REFEREE, "tribute", **said)
        await seen("return")
        await play(scene, at)
        await at.wait_for_state(lambda state: not state.alerts)

    scene = ground.scene(TRIBUTES)
    await lived(scene, TRIBUTES, by_referee, dark)
    assert len(scene.lives) == 2


# Looks that come late.

READABLE = replace(PRACTICE, faults=())


@pytest.mark.slow
async def test_a_card_whose_look_was_late_keeps_the_route_that_the_dead_daemon_gave_it(
    ground: Ground, scale: Callable[[int], int]
) -> None:
    """No journal has the timeout of a look. The cards show what followed from it."""
    for number in range(scale(200)):
        chance = random.Random(f"deaf {number}")
        death = DaemonDeath(8, 15 * chance.random(), chance.choice(AWAY_S))
        scene = ground.scene(READABLE)
        await lived(scene, READABLE, with_late_looks(chance), death)
        told = {reason for _, _, reasons in scene.outcomes() for reason in reasons}
        assert told <= {"TRAY_FULL", "UNREADABLE"}, death  # such a reader costs a deal now and then


def with_late_looks(chance: random.Random) -> Script:
    """Return what people do at a table whose reader is not heard for a moment, now and then."""

    async def play(scene: Scene, at: TableInProcess) -> None:
        line = scene.sim.port("reader").to_host

        async def deafen() -> None:
            while True:
                await asyncio.sleep(chance.uniform(2, 4))
                line.distort = lambda data: []
                await asyncio.sleep(chance.uniform(0.32, 0.45))
                line.distort = None

        deafening = asyncio.ensure_future(deafen())
        try:
            await practice(1)(scene, at)
        finally:
            deafening.cancel()
            line.distort = None

    return play

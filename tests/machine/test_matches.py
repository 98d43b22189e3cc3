"""Whole matches in virtual time: by buttons and sockets, to the sheet that the rules give."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.journal.store import JournalStore
from controller.journal.verify import verify
from controller.messages import PublicEvent, PublicState, Seat
from controller.rules.profile import Profile
from controller.rules.profile_files import load_profile
from tests.machine.tables import Tables
from tests.match.table import BIG_TWO, INTL, B, H, N, varied
from tests.matches import acts
from tests.matches.at_trial import AtTrial
from tests.matches.expected import Replay, comparable
from tests.matches.people import People
from tests.matches.script import Deal, Script
from tests.matches.watch import leaks, standstills

pytestmark = pytest.mark.virtual
Play = Callable[..., Any]
THROUGH_A = ("NS", "NS", "NS", "NS", "EW", "EW", "EW", "EW", "NS", "NS")
"""Both sides climb to A; both play theirs, and N and S pass it."""
MOST_SEEDS = 12
MISDEALS = (
    *("face_up:at=3", "missing_card", "third_copy", "wrong_pocket:at=20", "foreign_back"),
    "jam:at=9,place=landing",
)


class Played:
    """A match that was played: its sheet, and what was on the feed."""

    def __init__(
        self, sheet: dict[str, Any], states: list[PublicState], events: list[PublicEvent]
    ) -> None:
        self.sheet, self.states, self.events = sheet, states, events

    def told(self, event: str) -> list[dict[str, Any]]:
        """Return all public match entries of a kind."""
        return [each.data for each in self.events if each.data.get("event") == event]

    def kept(self) -> list[list[dict[str, Any]]]:
        """Return what was kept back and told together, time after time."""
        told = [event.data["told"] for event in self.events if event.kind == "match_told"]
        return [[one["event"] for one in each] for each in told]


@pytest.fixture
def play(table: Tables, tmp_path: Path) -> Play:
    """Play a script; its sheet must be what the rules alone give, its feed and journal right."""

    async def play(script: Script, seed: int = 0) -> Played:
        folder, profile = tmp_path / str(seed), script.profile
        folder.mkdir()
        store = JournalStore.open(folder)
        async with table(profile=profile, store=store, state_dir=folder, seed=seed) as trial:
            people = People(AtTrial(trial), script)
            sheet = await people.play()
            states, events = list(trial.states), list(trial.events)
        replay = Replay(script, people.dealt, events)
        assert comparable(sheet) == comparable(replay.sheet())
        assert leaks(profile, states, events) == []
        assert standstills(states) == []
        assert verify(folder).findings == []
        return Played(sheet, states, events)

    return play


async def lucky(play: Play, script: Script, found: Callable[[Played], bool]) -> Played:
    """Play until chance has dealt what is to be seen."""
    for seed in range(MOST_SEEDS):
        played: Played = await play(script, seed=seed)
        if found(played):
            return played
    raise AssertionError(f"not once in {MOST_SEEDS} matches")


def short(most: int) -> Profile:
    """The international rulebook for an event whose matches have so many deals."""
    return varied(INTL, ending={"method": "deals", "deals": most})


def deals(*orders: str, **first: Any) -> tuple[Deal, ...]:
    """Deals by who goes out; `first` says more of the first one."""
    return (Deal(orders[0], **first), *(Deal(order) for order in orders[1:]))


@pytest.mark.slow
async def test_both_sides_come_to_a_and_one_passes_it(play: Play) -> None:
    """By the rules of Huai'an; tests/processes/test_matches.py plays by the international ones."""
    played = await play(Script(load_profile(H), deals(*THROUGH_A)))
    sheet = played.sheet
    assert (sheet["levels"], sheet["state"]) == ({"NS": "A+", "EW": "A"}, "signed")
    assert (sheet["verdict"]["winner"], sheet["verdict"]["how"]) == ("NS", "past_a")
    owned = [(row["owner"], row["level"]) for row in sheet["deals"]]
    assert owned == [
        (None, "2"), ("NS", "5"), ("NS", "8"), ("NS", "J"), ("NS", "A"),
        ("EW", "5"), ("EW", "8"), ("EW", "J"), ("EW", "A"), ("NS", "A"),
    ]  # fmt: skip


@pytest.mark.slow
async def test_huainan_is_back_at_two_after_three_failures_and_its_ties_are_choices(
    play: Play,
) -> None:
    """Seed 003 R5.5, R4.5."""
    orders = (*THROUGH_A[:5], "NS", "EW", "NS", "EW", "NS", "NS", "NS", "NS", "NS")
    deals = tuple(Deal(order, chooses=n % 2, swap=True) for n, order in enumerate(orders))
    script = Script(load_profile(N), deals)
    played = await lucky(play, script, lambda played: bool(played.told("TributeChosen")))
    levels = [row["levels"]["NS"] for row in played.sheet["deals"]]
    assert levels[3:9] == ["A", "A", "A", "A", "A", "2"]
    assert played.sheet["verdict"]["winner"] == "NS"
    swapped = len(played.told("ReturnsSwapped"))
    assert swapped >= len(played.told("TributeChosen"))
    assert [[one["event"] for one in each] for each in played.kept()] == [["ReturnLaid"]] * swapped


@pytest.mark.slow
async def test_bcta_plays_its_deals_and_its_returns_stay_secret(play: Play) -> None:
    orders = ("NS", "NWS", "NWE", "EW", "ENW", "EWS", "NEW", "ENS", "NWS", "SNE", "NEW")
    played = await play(Script(load_profile(B), deals(*orders)))
    assert (len(played.sheet["deals"]), played.sheet["state"]) == (11, "signed")
    laid = played.told("ReturnLaid")
    assert len(laid) >= 10
    assert {one.get("value") for one in laid} == {None}
    assert played.kept() == []
    told = [back["card"] for row in played.sheet["deals"] for back in row["returns"]]
    assert set(told) == {None}


async def test_big_two_deals_thirteen_each_and_open_hands_come_out_together(play: Play) -> None:
    left: tuple[dict[Seat, int], ...] = (
        {"N": 0, "W": 3, "S": 7, "E": 1},
        {"N": 13, "W": 0, "S": 2, "E": 8},
    )
    script = tuple(Deal(left=left[n % 2], opens="NE"[: n % 3], doubles="WE") for n in range(8))
    played = await play(Script(load_profile(BIG_TWO), script))
    assert sum(played.sheet["totals"].values()) == 0
    assert [row["opened"] for row in played.sheet["hands"][:3]] == [[], ["N"], ["N", "E"]]
    assert [[one["event"] for one in each] for each in played.kept()] == [["Answered"] * 3] * 8


@pytest.mark.parametrize(
    "fault", [MISDEALS[0], *(pytest.param(fault, marks=pytest.mark.slow) for fault in MISDEALS[1:])]
)
async def test_a_misdeal_changes_no_level_no_number_and_no_duty(play: Play, fault: str) -> None:
    script = Script(short(2), (Deal("NS"), Deal("ENW", faults=(fault,))))
    played = await play(script)
    assert [row["misdeals"] for row in played.sheet["deals"]] == [0, 1]


@pytest.mark.slow
async def test_two_misdeals_in_a_row_call_the_referee_who_starts_the_next(play: Play) -> None:
    faults = ("face_up:at=3", "face_up:at=5")
    played = await play(Script(short(2), (Deal("NS"), Deal("ENW", faults=faults))))
    reasons = {call.reason for state in played.states for call in state.calls}
    assert "misdeals_in_a_row" in reasons
    assert [row["misdeals"] for row in played.sheet["deals"]] == [0, 2]


async def test_a_right_count_plays_on_and_a_wrong_one_is_dealt_again(play: Play) -> None:
    script = (
        Deal("NS", (acts.count_claim("W"),)),
        Deal("NS", (acts.count_claim("N", N=26),)),
        Deal("EW", (acts.count_claim("N", S=28, N=26),)),
    )
    played = await play(Script(short(3), script))
    again = [note["en"] for note in played.sheet["notes"] if "dealt again" in note["en"]]
    assert len(again) == 2
    assert [row["misdeals"] for row in played.sheet["deals"]] == [0, 1, 1]
    recalled = [event for event in played.events if event.kind == "recalled"]
    assert [event.data["reasons"] for event in recalled] == [["COUNT_WRONG"]] * 2


async def test_rulings_are_proposed_and_then_the_chiefs(play: Play) -> None:
    """Approved, rejected, changed into a lost deal, and by the chief's word."""
    script = (
        Deal("EW", (acts.ruling("A1", "other", "N", "approved"), acts.clock_called("E"))),
        Deal("WES", (acts.ruling("A2", "wrong_tribute_in_play", "N", "by word"),)),
        Deal("NWS", (acts.ruling("A3", "other", "E", "rejected"),)),
        Deal(acts=(acts.ruling("A4", "hidden_cards", "W", "changed", "foul"),), names="S"),
        Deal("EWN", (acts.ruling("A5", "no_report", "S", "approved"),)),
    )
    played = await play(Script(short(5), script))
    told = {
        one["id"]: (one["state"], one["approved_by"] or one["rejected_by"])
        for one in played.sheet["rulings"]
    }
    assert told == {
        "A1": ("decided", "chief"),
        "A2": ("decided", "Chen"),
        "A3": ("rejected", "chief"),
        "A4": ("decided", "chief"),
        "A5": ("decided", "chief"),
    }
    rows = played.sheet["deals"]
    assert (rows[3]["outcome"]["forfeited_by"], rows[3]["winners"]) == ("EW", "NS")
    assert rows[4]["leader"] == "S"
    assert [row["dead"] for row in rows] == [[], ["N"], [], [], []]


@pytest.mark.slow
async def test_a_late_correction_changes_what_is_written_and_no_level_that_was_played(
    play: Play,
) -> None:
    script = (
        Deal("NS"),
        Deal("NS"),
        Deal("EW", (acts.correction(1, "EW"),)),
        Deal("EW", (acts.correction(2, "NWE", at="play"),)),
        Deal("EWN", (acts.correction(4, "NS", choice="void_later", at="play"),)),
        Deal("EWN"),
    )
    played = await play(Script(short(5), script))
    choices = [one["choice"] for one in played.sheet["corrections"]]
    assert choices == ["from_now", "from_now", "void_later"]
    rows = played.sheet["deals"]
    corrected = [row["deal"] for row in rows if row["corrected"]]
    assert corrected == [1, 2, 4]
    assert [row["level"] for row in rows][:3] == ["2", "5", "5"]


@pytest.mark.slow
async def test_the_chief_has_a_deal_dealt_again(play: Play) -> None:
    played = await play(Script(short(2), (Deal("NS"), Deal("EW", (acts.redeal(),)))))
    recalled = [event for event in played.events if event.kind == "recalled"]
    assert [event.data["reasons"] for event in recalled] == [["ORDERED"]]


async def test_table_and_area_stop_and_lost_time_is_given_back(play: Play) -> None:
    profile = varied(INTL, ending={"method": "timed_deals", "deals": 3})
    script = (
        Deal("NS", (acts.table_stopped(), acts.area_stopped())),
        Deal("NS", (acts.area_stopped("held"),)),
        Deal("EW", (acts.table_stopped("count_check"),), uncut=True),
    )
    played = await play(Script(profile, script))
    assert played.states[-1].match.added_time_s == 120
    assert [row["cutter"] for row in played.sheet["deals"]] == ["S", "N", None]


@pytest.mark.slow
async def test_a_draw_in_a_knockout_is_decided_by_an_extra_deal(play: Play) -> None:
    script = Script(short(2), deals("NS", "EW", "ENS"), stage="knockout")
    played = await play(script)
    assert [row["extra"] for row in played.sheet["deals"]] == [False, False, True]
    assert played.sheet["verdict"]["how"] == "extra_deal"


@pytest.mark.slow
async def test_held_hands_over_which_the_lid_was_opened_are_dealt_again(play: Play) -> None:
    played = await play(Script(short(2), (Deal("NS", (acts.lid_opened(),)), Deal("EW"))))
    assert [row["misdeals"] for row in played.sheet["deals"]] == [1, 0]


@pytest.mark.parametrize("anti", ["automatic", pytest.param("declared", marks=pytest.mark.slow)])
async def test_anti_tribute_stands_by_itself_or_is_claimed_by_who_owes(
    play: Play, anti: str
) -> None:
    """Seed 000 A10.3; seed 003 R4.3 says "may"."""
    profile = varied(INTL, ending={"method": "deals", "deals": 2}, tribute={"anti": anti})
    script = Script(profile, deals("NS", "NWS"))
    played = await lucky(play, script, stood)
    commands = [event.data["cmd"] for event in played.events if event.kind == "command"]
    assert ("anti" in commands) == (anti == "declared")


def stood(played: Played) -> bool:
    return any(row["anti"] for row in played.sheet["deals"])


async def test_time_is_up_in_mid_deal_and_the_match_ends_behind_it(play: Play) -> None:
    profile = varied(INTL, ending={"method": "timed", "time_s": 300})
    played = await play(Script(profile, (Deal("NS"), Deal("NWE", (acts.time_passes(5),)))))
    assert len(played.sheet["deals"]) == 2
    assert played.sheet["verdict"]["how"] == "level"


@pytest.mark.slow
async def test_time_that_a_table_lost_is_answered_for_before_time_ends_its_match(
    play: Play,
) -> None:
    profile = varied(INTL, ending={"method": "timed", "time_s": 300})
    script = (Deal("NS", (acts.stopped_for(1),)), Deal("NWE", (acts.time_passes(5),)))
    played = await play(Script(profile, script))
    assert "added_time" in {call.reason for state in played.states for call in state.calls}
    assert len(played.told("TimeAdded")) == 1
    assert len(played.sheet["deals"]) == 2


async def test_a_pair_that_does_not_come_loses_by_default_without_a_deal(play: Play) -> None:
    script = Script(load_profile(INTL), (Deal(),), seated=(acts.default("EW"),))
    played = await play(script)
    assert (played.sheet["verdict"]["winner"], played.sheet["verdict"]["how"]) == ("NS", "forfeit")
    assert played.sheet["deals"] == []

"""Health over time: what a journal tells of wear, and what is due."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.acceptance.wear_signs import (
    AttemptWear,
    ServiceNote,
    WearCounts,
    WearFinding,
    count_attempts,
    report_wear,
    service_parts,
    wear_signs,
)
from controller.cli import main
from controller.journal.store import JournalStore
from sim.mechanics.fault_menu import parse_fault
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.tables.table_in_process import run_table_in_process

ROLLERS = WearCounts(attempts=1, deals=1, cards=108)


def sign_of(
    attempts: list[AttemptWear], name: str, *marks: ServiceNote, part: str = ""
) -> WearFinding:
    found = report_wear(attempts, marks).found
    return next(one for one in found if one.sign == name and part in ("", one.part))


def dealt(count: int, counts: WearCounts = ROLLERS, card_set: str = "S1") -> list[AttemptWear]:
    """So many attempts, each of them ten entries long."""
    return [AttemptWear(10 * number + 1, card_set, counts) for number in range(count)]


def test_every_sign_has_a_part_a_count_and_limits_in_order(subtests: pytest.Subtests) -> None:
    for name, sign in wear_signs().items():
        with subtests.test(name):
            assert sign.part == "set" or sign.part in service_parts()
            assert sign.of in WearCounts.__struct_fields__
            assert 0 < sign.soon < sign.now
            assert (sign.per == "since") == (sign.since is not None)
            assert all((sign.en, sign.zh, sign.do_en, sign.do_zh, sign.reason))


@pytest.mark.virtual
@pytest.mark.parametrize(
    ("fault", "field", "count"),
    [
        ("unreadable:at=5,times=1", "extra_looks", 1),
        ("unreadable:at=5,times=3", "refed", 1),
        ("double_feed:at=30", "doubles", 1),
        ("jam:at=9,place=landing", "not_landed", 1),
        ("jam:at=9,place=feeder", "jams", 1),
        ("stall:motor=gate", "stalls", 1),
    ],
)
async def test_what_befell_a_deal_is_counted_out_of_its_journal(
    runtime_dir: Path, fault: str, field: str, count: int
) -> None:
    store = JournalStore.in_memory()
    settings = MechanicsSettings(faults=(parse_fault(fault),))
    async with run_table_in_process(settings, runtime_dir, store=store) as at:
        await at.play_attempt()
        seen = list(store.entries())
    [attempt] = count_attempts(one.entry for one in seen)
    assert getattr(attempt.counts, field) == count
    assert attempt.card_set == "S1"


@pytest.mark.virtual
async def test_a_deal_that_was_played_is_counted_card_by_card(runtime_dir: Path) -> None:
    store = JournalStore.in_memory()
    async with run_table_in_process(MechanicsSettings(), runtime_dir, store=store) as at:
        await at.play_attempt()
        await at.return_hands()
        seen = list(store.entries())
    [attempt] = count_attempts(one.entry for one in seen)
    counts = attempt.counts
    assert (counts.attempts, counts.deals, counts.cards, counts.lifts) == (1, 1, 108, 1)
    assert (counts.refed, counts.extra_looks, counts.jams, counts.stalls) == (0, 0, 0, 0)
    assert counts.passes >= 1


def test_rollers_are_due_by_the_cards_they_fed_since_they_were_cleaned() -> None:
    assert sign_of(dealt(23), "rollers_clean").due == "fine"
    assert sign_of(dealt(24), "rollers_clean").due == "soon"
    late = sign_of(dealt(40), "rollers_clean")
    assert (late.due, late.value) == ("now", 40 * 108)
    cleaned = ServiceNote(n=10 * 35, time="2027-01-01", part="rollers", did="cleaned")
    after = sign_of(dealt(40), "rollers_clean", cleaned)
    assert (after.due, after.value, after.since) == ("fine", 5 * 108, "2027-01-01")


def test_cleaning_makes_no_roller_new_and_a_new_one_is_clean() -> None:
    cleaned = ServiceNote(n=500, time="2027-01-01", part="rollers", did="cleaned")
    replaced = ServiceNote(n=500, time="2027-01-01", part="rollers", did="replaced")
    assert sign_of(dealt(60), "rollers_replace", cleaned).value == 60 * 108
    assert sign_of(dealt(60), "rollers_replace", replaced).value == 10 * 108
    assert sign_of(dealt(60), "rollers_clean", replaced).value == 10 * 108


def test_a_mark_of_another_part_changes_nothing() -> None:
    other = ServiceNote(n=500, time="2027-01-01", part="lift", did="cleaned")
    assert sign_of(dealt(60), "rollers_clean", other).value == 60 * 108


def test_a_rate_is_that_of_the_last_attempts_and_needs_cards() -> None:
    jammed = WearCounts(attempts=1, cards=108, jams=1)
    assert sign_of(dealt(9, jammed), "jams").value is None
    assert sign_of(dealt(20, jammed), "jams").due == "now"
    healed = dealt(20, jammed) + [
        AttemptWear(1000 + 10 * number, "S1", ROLLERS) for number in range(100)
    ]
    assert sign_of(healed, "jams").value == 0


def test_a_set_that_wants_looks_is_told_from_one_that_does_not() -> None:
    worn = WearCounts(attempts=1, deals=1, cards=108, extra_looks=4)
    attempts = dealt(20, worn, "S1") + dealt(20, ROLLERS, "S2")
    assert sign_of(attempts, "set_looks", part="set:S1").due == "now"
    assert sign_of(attempts, "set_looks", part="set:S2").due == "fine"


def test_what_is_due_now_stands_before_what_is_due_soon() -> None:
    health = report_wear(dealt(260, WearCounts(attempts=1, deals=1, cards=108, lifts=1)))
    assert [one.due for one in health.due] == ["now", "soon"]
    assert [one.sign for one in health.due] == ["rollers_clean", "set_deals"]


def test_the_command_shows_a_page_keeps_what_was_done_and_refuses_unknown_parts(
    tmp_path: Path, runtime_dir: Path
) -> None:
    _played(tmp_path, runtime_dir)
    shown = _health(tmp_path)
    assert "108 cards in 1 attempts, 1 deals played" in shown
    told = json.loads(_health(tmp_path, "--json"))
    assert told["whole"]["cards"] == 108
    done = json.loads(_health(tmp_path, "--cleaned", "rollers", "--who", "Li", "--json"))
    assert next(one for one in done["found"] if one["sign"] == "rollers_clean")["value"] == 0
    again = json.loads(_health(tmp_path, "--json"))
    assert next(one for one in again["found"] if one["sign"] == "rollers_clean")["value"] == 0
    refused = CliRunner().invoke(main, ["health", str(tmp_path), "--cleaned", "engine"])
    assert refused.exit_code == 2
    assert "there is no 'engine' here" in refused.output


def test_no_journal_is_one_line(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["health", str(tmp_path)])
    assert refused.exit_code == 2
    assert "there is no journal" in refused.output


def _played(state_dir: Path, runtime_dir: Path) -> None:
    from tests.acceptance.at_machine import in_virtual_time

    async def play() -> None:
        store = JournalStore.open(state_dir)
        async with run_table_in_process(MechanicsSettings(), runtime_dir, store=store) as at:
            await at.play_attempt()
            await at.return_hands()

    in_virtual_time(play())


def _health(state_dir: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["health", str(state_dir), *words])
    assert done.exit_code == 0, done.output
    return done.output

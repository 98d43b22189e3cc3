"""What every scenario is checked for when it is over: each check sees what it is there for."""

from pathlib import Path
from typing import Any

import pytest

from controller.gateway.metric_families import METRIC_FAMILIES
from drivers.board_events import BoardActivity
from drivers.typed_boards import DealerStatus
from hil_tests.harness.port_checks import table_disorder
from hil_tests.harness.scenario_end import (
    TIMING_COUNTERS,
    active_faults,
    journal_findings,
    misplaced_cards,
    unexplained_counters,
)
from hil_tests.harness.table_daemon import LINE_COUNTERS, parse_counters
from tests.hil.mischief import OTHER_FIRMWARE
from tests.hil.scenario_run import RunScenarios

MISCHIEF = {
    "alert": "unexpected alert LID_OPENED: ",
    "counter": "dealer board: ",
    "card": "80 cards in the hopper, expected 108",
    "sensor": "still in force: sensor_stuck",
    "lid": "the lid is open",
    "journal": "entry 4",
    "hello": f"expected {OTHER_FIRMWARE}",
}
"""What is done behind a scenario's back, and what must be said about it."""
SHOWN = "test_what_is_mild"


@pytest.mark.slow
async def test_whatever_happens_behind_a_scenarios_back_is_found_and_spoils_no_other(
    scenarios: RunScenarios,
) -> None:
    names = ["nothing", *MISCHIEF]
    shown = await scenarios(
        *("-p", "tests.hil.mischief", "--mischief", ",".join(names), "-k", SHOWN, "-rA")
    )
    assert shown.code == 1
    parts = shown.said.split("_ ERROR at ")[1:]
    assert len(parts) == len(MISCHIEF), shown.said
    for (name, told), part in zip(MISCHIEF.items(), parts, strict=True):
        assert told in part, f"{name}: {part}"


CLEAN: dict[str, Any] = {
    **{place: [] for place in ("shuffler", "feeder", "window", "path", "floor", "table")},
    "hopper": [0] * 108,
    "pockets": [[]] * 5,
    "hands": [[]] * 4,
    "lid_open": False,
    "estop": False,
    "lift_up": False,
    "lift_down": True,
}
AMISS = {
    "hopper": ([0] * 107, "107 cards in the hopper, expected 108"),
    "floor": ([0], "1 cards: floor"),
    "path": ([0], "1 cards: path"),
    "window": ([0], "1 cards: window"),
    "feeder": ([0], "1 cards: feeder"),
    "shuffler": ([0], "1 cards: shuffler"),
    "table": ([0], "1 cards: table"),
    "pockets": ([[], [0], [], [], []], "1 cards: pockets"),
    "hands": ([[0], [], [], [0]], "2 cards: hands"),
    "lid_open": (True, "lid_open: True"),
    "estop": (True, "estop: True"),
    "lift_up": (True, "lift_up: True"),
    "lift_down": (False, "lift_down: False"),
}


def test_a_card_or_part_that_is_not_where_it_belongs_is_found() -> None:
    assert misplaced_cards(CLEAN, 108) == []
    found = {
        place: misplaced_cards(CLEAN | {place: wrong}, 108) for place, (wrong, _) in AMISS.items()
    }
    assert found == {place: [told] for place, (_, told) in AMISS.items()}


def test_a_fault_that_outlasts_its_scenario_is_found() -> None:
    assert active_faults({"struck": [1], "in_force": []}) == []
    found = active_faults({"struck": [], "in_force": [{"fault": {"name": "jam"}}]})
    assert found == ["still in force: jam"]


def test_a_counter_of_a_line_that_moved_is_found_unless_its_scenario_explains_it() -> None:
    for counter in LINE_COUNTERS:
        moved = {f"{counter} dealer": 2.0, "misreads": 3.0, "cards_fed": 108.0}
        told = [f"dealer board: {counter} moved by 2"]
        assert unexplained_counters(moved, frozenset(), is_time_shared=False) == told
        assert unexplained_counters(moved, frozenset({"another"}), is_time_shared=False) == told
        assert unexplained_counters(moved, frozenset({counter}), is_time_shared=False) == []
        assert unexplained_counters(moved, frozenset({"all"}), is_time_shared=False) == []
        assert (
            unexplained_counters({f"{counter} dealer": 0.0}, frozenset(), is_time_shared=False)
            == []
        )
        hurried = [] if counter in TIMING_COUNTERS else told
        assert unexplained_counters(moved, frozenset(), is_time_shared=True) == hurried


def test_counters_of_both_lines_are_read_from_a_metrics_page() -> None:
    name = f"dealtable_{METRIC_FAMILIES['line_resends'].name}"
    rows = ('{board="dealer"} 2.0', '{board="reader"} 1.0', "_created 1.7e9")
    page = "\n".join((f"# HELP {name} ...", *(f"{name}{row}" for row in rows)))
    assert parse_counters(page) == {"resends dealer": 2.0, "resends reader": 1.0}


AT_REST: dict[str, Any] = {
    "sees_pockets": (False,) * 4,
    "sees_tray": False,
    "sees_window": False,
    "sees_path": False,
    "sees_shuffler": False,
    "sees_hopper": True,
    "lid_open": False,
    "estop": False,
    "lift_up": False,
    "lift_down": True,
}
SEEN = {
    "sees_pockets": ((False, True, False, True), "cards in the pockets W E"),
    "sees_tray": (True, "cards in the tray"),
    "sees_window": (True, "a card in the window"),
    "sees_path": (True, "a card in the path"),
    "sees_shuffler": (True, "cards in the shuffler"),
    "sees_hopper": (False, "no cards in the hopper"),
    "lid_open": (True, "the lid is open"),
    "estop": (True, "the e-stop is pressed"),
    "lift_up": (True, "the lift is not down"),
    "lift_down": (False, "the lift is not down"),
}


def seen_by_the_board(**other: Any) -> DealerStatus:
    """Return a status of the dealer board at rest, but for what is said."""
    blank: dict[str, Any] = dict.fromkeys(DealerStatus.__struct_fields__, 0)
    return DealerStatus(
        **(blank | {"doing": BoardActivity.IDLE, "landed": (0,) * 5} | AT_REST | other)
    )


def test_what_a_board_sees_where_nothing_may_be_is_found() -> None:
    assert table_disorder(seen_by_the_board()) == []
    found = {
        sensor: table_disorder(seen_by_the_board(**{sensor: value}))
        for sensor, (value, _) in SEEN.items()
    }
    assert found == {sensor: [told] for sensor, (_, told) in SEEN.items()}


def test_the_journal_of_a_scenario_that_left_none_is_a_finding(tmp_path: Path) -> None:
    assert journal_findings(tmp_path) != []

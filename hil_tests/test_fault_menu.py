"""Scenarios with faults from the simulator's fault menu. Only simulated tables have this menu.

Mild faults cost time. The others end the attempt. No alert may be wrong. sim/faults.toml lists the
right alerts of each fault.
"""

import pytest

from controller.messages import AttemptOutcome, PublicState
from hil_tests.harness.features import needs
from hil_tests.harness.scenario_table import FAILED_OUTCOMES, ScenarioTable, alert_names
from sim.mechanics.fault_menu import FaultError, accepted_codes, parse_fault

FOLLOWING_ALERTS = frozenset({"SET_BARRED"})
"""Alerts that follow any misdeal, whatever its reason."""
pytestmark = needs("fault_menu")

MILD_FAULTS = (
    "double_feed:at=30",
    "unreadable:at=5,times=2",
    "misread:at=7,confidence=90",
    "no_answer:at=11",
    "no_feed:at=20,times=2",
    "jam:at=9,place=window,clears_after=1",
    "jam:at=40,place=gate,clears_after=1",
    "sensor_late:at=10,sensor=window,ms=30",
    "sensor_bounce:at=10,sensor=land_1",
    "sensor_bounce:at=10,sensor=window",
)
COSTLY_FAULTS = (
    "wrong_pocket:at=20",
    "missed_landing:at=20",
    "on_the_floor:at=20",
    "pulse_lost:at=20",
    "pulse_extra:at=20",
    "hopper_early:at=50",
    "stall:at=20,motor=gate",
    "jam:at=20,place=window",
    "jam:at=20,place=gate",
    "jam:at=20,place=landing",
    "sensor_stuck:at=20,sensor=land_1,value=0",
    "misread:at=7,confidence=250,times=9",
)
NOISE_FAULTS = tuple(
    f"{name}:board={board},way={way}"
    for name in ("bytes_dropped", "bytes_repeated", "bytes_corrupted")
    for board, way in (("dealer", "to_host"), ("reader", "to_board"))
)
LOST_BOARD_FAULTS = (
    "unplugged:at=30,board=dealer,for_ms=1500",
    "unplugged:at=30,board=reader,for_ms=1500",
    "board_reset:at=30,board=dealer",
    "board_silent:at=30,board=dealer,for_ms=3000",
    "board_silent:at=30,board=reader",
    "foreign_board:at=30,board=dealer,for_ms=1500",
    "foreign_firmware:at=30,board=dealer,for_ms=1500",
    "foreign_firmware:at=30,board=reader,for_ms=1500",
    "settings_lost:at=30,board=dealer",
    "settings_lost:at=30,board=reader",
)


async def deal_with_fault(table: ScenarioTable, text: str) -> PublicState:
    """Deal one attempt with a fault, such as `no_answer:at=11`. Fail on alerts of other faults.

    Return the state after the attempt.
    """
    try:
        fault = parse_fault(text)
    except FaultError as error:
        pytest.skip(f"the simulator's menu has no such fault: {error}")
    table.expect_alerts(*accepted_codes(fault), *FOLLOWING_ALERTS)
    known = len((await table.hands.read_faults())["struck"])
    fields = dict(pair.split("=") for pair in text.partition(":")[2].split(","))
    numbers = {key: int(word) if word.isdigit() else word for key, word in fields.items()}
    await table.hands.cause_fault(fault.name, **numbers)
    state = await table.play_attempt()
    struck = [one["fault"]["name"] for one in (await table.hands.read_faults())["struck"][known:]]
    assert fault.name in struck, f"{text} did not strike"
    said = {*state.fairness[-1].reasons, *alert_names(state)} - FOLLOWING_ALERTS
    assert said <= set(accepted_codes(fault)), (
        f"wrong blame: {sorted(said - set(accepted_codes(fault)))}"
    )
    return state


@pytest.mark.parametrize("fault", MILD_FAULTS)
async def test_what_is_mild_costs_time_and_no_deal(table: ScenarioTable, fault: str) -> None:
    state = await deal_with_fault(table, fault)
    assert state.fairness[-1].outcome is AttemptOutcome.OK, state.fairness[-1].reasons


@pytest.mark.parametrize("fault", COSTLY_FAULTS)
async def test_what_would_give_wrong_hands_costs_the_deal(table: ScenarioTable, fault: str) -> None:
    state = await deal_with_fault(table, fault)
    assert state.fairness[-1].outcome in FAILED_OUTCOMES
    if "JAM" in state.fairness[-1].reasons:
        await table.wait_for_place("JAM", fault.partition("place=")[2])


@pytest.mark.explains("all")
@pytest.mark.parametrize("fault", NOISE_FAULTS)
async def test_noise_on_a_line_costs_time_and_no_deal(table: ScenarioTable, fault: str) -> None:
    state = await deal_with_fault(table, fault)
    assert state.fairness[-1].outcome is AttemptOutcome.OK, state.fairness[-1].reasons


@pytest.mark.explains("all")
@pytest.mark.parametrize("fault", LOST_BOARD_FAULTS)
async def test_a_board_that_is_away_in_mid_deal_costs_it_and_comes_back(
    table: ScenarioTable, fault: str
) -> None:
    if fault.startswith("foreign_firmware"):
        table.expect_alerts(
            "TWO_MISDEALS"
        )  # The board is away twice: the return of the own board may cost the next attempt.
    state = await deal_with_fault(table, fault)
    assert state.fairness[-1].outcome in FAILED_OUTCOMES


@pytest.mark.explains("all")
async def test_a_board_that_hears_nobody_stops_its_cards_in_time(table: ScenarioTable) -> None:
    fault = "unplugged:board=dealer,for_ms=3000"
    table.expect_alerts(*accepted_codes(parse_fault(fault)))
    state = await table.deal_to_card(20)
    await table.hands.cause_fault("unplugged", board="dealer", for_ms=3000)
    stopped_s = await table.watch_last_card()
    table.measure("silence_to_stop_s", stopped_s)
    await table.wait_for_verdict(state.machine.attempt or 0)

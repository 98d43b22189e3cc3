"""The report of a campaign: what is counted from what its lives tell."""

import msgspec

from sim.campaign.campaign_lives import CampaignPlan, LifeFinding, LifeReport
from sim.campaign.campaign_report import (
    CampaignReport,
    count_faults,
    merge_reports,
    render_campaign_report,
    row_key,
)
from sim.mechanics.fault_menu import WearLevel, accepted_codes, fault_menu, parse_fault
from tests.campaign.lives import attempt, attempts

PLAN = CampaignPlan(1, 100, "hostile", WearLevel())


def test_a_deal_is_ready_without_a_redeal_when_its_only_attempt_gave_hands() -> None:
    life = attempts(
        attempt(1, 1),
        attempt(2, 2, "misdeal"),
        attempt(2, 3),
        attempt(3, 4, hands=("free the card",)),
        attempt(4, 5, "void"),
    )
    report = merge_reports(PLAN, [life])
    assert (report.deals, report.attempts) == (4, 5)
    assert report.ready_without_redeal == 2
    assert report.ready_without_hand == 2


def test_a_hand_at_any_attempt_of_a_deal_is_a_hand_for_that_deal() -> None:
    life = attempts(attempt(1, 1, "misdeal", hands=("gather the cards",)), attempt(1, 2))
    assert merge_reports(PLAN, [life]).ready_without_hand == 0


def test_deals_of_one_number_in_two_lives_are_two_deals() -> None:
    report = merge_reports(PLAN, [attempts(attempt(1, 1)), attempts(attempt(1, 1))])
    assert report.ready_without_redeal == 2


def test_needless_misdeals_are_counted_beside_the_findings() -> None:
    report = merge_reports(PLAN, [attempts(attempt(1, 1, "misdeal", needless=True), attempt(1, 2))])
    assert report.needless_misdeals == 1
    assert not report.findings


def test_each_kind_of_finding_is_a_number_at_the_top_and_a_line_that_replays_it() -> None:
    findings = (
        LifeFinding("wrong_released", "1.4", 3, 7, "27 28 27 26"),
        LifeFinding("crashed", "1.9", None, None, "LookupError"),
    )
    report = merge_reports(PLAN, [LifeReport("1.4", 3, (), findings, 0.0)])
    assert (report.wrong_released, report.crashed, report.stuck) == (1, 1, 0)
    text = render_campaign_report(report)
    assert "wrong_released in 1.4.3 attempt 7: 27 28 27 26" in text
    assert "dealtable campaign --faults hostile --replay 1.4.3\n" in text
    assert "dealtable campaign --faults hostile --replay 1.9\n" in text


def test_the_numbers_that_people_look_for_come_first_in_the_json() -> None:
    encoded = msgspec.json.decode(msgspec.json.encode(merge_reports(PLAN, [])))
    assert list(encoded)[:7] == [
        "attempts", "deals", "wrong_released", "wrong_blame", "events_lost", "events_doubled",
        "needless_misdeals",
    ]  # fmt: skip
    assert msgspec.convert(encoded, CampaignReport) == merge_reports(PLAN, [])


def test_every_fault_of_the_menu_has_a_row_also_when_it_never_struck() -> None:
    rows = count_faults(())
    assert {key.partition(":")[0] for key in rows} == set(fault_menu())
    assert not any(row.injected or row.active for row in rows.values())


def test_a_fault_whose_blame_goes_by_its_place_has_a_row_for_each_place() -> None:
    assert row_key("jam:place=gate,clears_after=1") == "jam:place=gate"
    assert row_key("unreadable:times=9") == "unreadable"


def test_a_fault_is_injected_once_and_active_in_every_attempt_in_which_it_is_so() -> None:
    stuck = "sensor_stuck:sensor=pocket_1,value=0"
    told = (
        attempt(1, 1, "misdeal", struck=(stuck,), referee=True),
        attempt(1, 2, "void", struck=(stuck,)),
        attempt(1, 3, struck=(stuck,), hands=("wipe the sensor",)),
        attempt(2, 4, struck=(stuck, stuck)),
    )
    life = msgspec.structs.replace(attempts(*told), strikes=((stuck, 1),))
    row = count_faults([life])[row_key(stuck)]
    assert (row.injected, row.active) == (1, 4)
    assert (row.recovered, row.by_hand, row.misdealt, row.voided) == (1, 1, 1, 1)
    assert row.referee == 1


def test_a_fault_is_detected_as_the_codes_that_are_right_for_it_and_no_other() -> None:
    double, eye = parse_fault("double_feed"), parse_fault("unreadable:times=9")
    theirs = set(accepted_codes(eye)) - set(accepted_codes(double))
    assert theirs
    name = min(theirs)
    life = attempts(
        attempt(1, 1, "misdeal", struck=("double_feed", "unreadable:times=9"), reasons=(name,))
    )
    rows = count_faults([life])
    assert [told.partition(" ")[2] for told in rows["unreadable"].detected] == [name]
    assert not rows["double_feed"].detected


def test_the_text_tells_the_faults_that_struck_and_no_others() -> None:
    life = attempts(attempt(1, 1, struck=("double_feed",)))
    text = render_campaign_report(merge_reports(PLAN, [life]))
    assert "\ndouble_feed" in text
    assert "\nmissing_card" not in text
    assert "0  must be 0" not in text

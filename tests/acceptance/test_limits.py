"""The table of limits, the figures judged by it, and the steps that people are asked for."""

import pytest

from controller.acceptance.selftest_figures import (
    SelftestFigures,
    figure_limits,
    machine_parts,
    worst_verdict,
)
from controller.acceptance.selftest_session import _load_steps
from controller.faults import fault_catalogue
from sim.mechanics.fault_menu import fault_from_fields


def test_every_figure_has_known_parts_a_known_fault_and_limits_in_order(
    subtests: pytest.Subtests,
) -> None:
    for name, limit in figure_limits().items():
        with subtests.test(name):
            assert set(limit.parts) <= set(machine_parts())
            assert limit.fault in fault_catalogue()
            for asked in (False, True):
                bounds = limit.bounds(reader_is_polled=asked)
                assert (
                    bounds.warn <= bounds.fail
                    if limit.sense == "most"
                    else bounds.warn >= bounds.fail
                )
            assert all((limit.en, limit.zh, limit.do_en, limit.do_zh, limit.reason))


def test_every_part_is_in_a_figure() -> None:
    named = {part for limit in figure_limits().values() for part in limit.parts}
    assert named == set(machine_parts())


def test_a_number_at_its_limit_will_do_and_one_beyond_it_will_not() -> None:
    figures = SelftestFigures()
    assert figures.record("feed_time", 110).verdict == "pass"
    assert figures.record("feed_time", 110.5).verdict == "warn"
    assert figures.record("feed_time", 301).verdict == "fail"
    assert SelftestFigures().record("cards_per_s", 7.5).verdict == "pass"
    assert SelftestFigures().record("cards_per_s", 3.9).verdict == "fail"


def test_the_worst_of_a_figure_stands() -> None:
    figures = SelftestFigures()
    figures.record("lift_up", 3500)
    figures.record("lift_up", 1500)
    figures.record_failure("lift_up", note="stuck")
    figures.record("lift_up", 1400)
    [lift] = [one for one in figures.all_figures() if one.name == "lift_up"]
    assert (lift.verdict, lift.value, lift.note) == ("fail", None, "stuck")
    assert figures.has_failed("lift_up", "lift")
    assert not figures.has_failed("lift_down")


def test_an_asked_reader_has_limits_of_its_own() -> None:
    assert SelftestFigures(reader_is_polled=False).record("cards_per_s", 1.6).verdict == "fail"
    assert SelftestFigures(reader_is_polled=True).record("cards_per_s", 1.6).verdict == "pass"


def test_nothing_measured_is_a_warning() -> None:
    figures = SelftestFigures()
    assert worst_verdict(figures.all_figures()) == "warn"
    assert {one.verdict for one in figures.all_figures()} == {"not measured"}


def test_a_figure_of_no_such_part_is_refused() -> None:
    with pytest.raises(LookupError):
        SelftestFigures().record("landing", 0, "lid")


def test_every_fault_that_simulated_hands_provoke_is_on_the_menu() -> None:
    provoked = [
        {key: value for key, value in deed.items() if key != "do"}
        for step in _load_steps().values()
        for deed in step.does
        if deed["do"] == "fault"
    ]
    assert [fault_from_fields(fields).name for fields in provoked] == ["jam", "double_feed"]

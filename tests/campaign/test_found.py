"""What campaigns and attacks on them have found: each life once ended wrong, and ends right now."""

import pytest

from sim.campaign.campaign_lives import LifePlan, MomentFault
from sim.campaign.life import run_life
from sim.mechanics.fault_menu import WearLevel, parse_fault

pytestmark = pytest.mark.slow

# What went wrong, seeds of it, and the faults: behind what, how many milliseconds, which.
FOUND = [
    (
        "a card that hung in a chute fell in as a flutter of the beam: 28 in a pocket",
        ("ch.1", "ch.2", "ch.3", "ch.4"),
        (
            ("committed", 0, "extra_card:face=53"),
            ("committed", 0, "left_in_path:place=landing,pocket=1"),
        ),
    ),
    (
        "a lost landing and a flutter were counted as two landings",
        ("fl.1", "fl.2", "fl.3"),
        (("committed", 0, "on_the_floor:at=30"), ("shuffled", 3100, "sensor_bounce:sensor=land_2")),
    ),
    (
        "a window that flutters brought a card that was not there",
        ("wi.1",),
        tuple(("shuffled", 1000 + 97 * number, "sensor_bounce") for number in range(20)),
    ),
    ("a lost pulse was a full tray", ("pl.1",), (("committed", 0, "pulse_lost:at=20"),)),
    ("a pulse too many was a refusal", ("pe.1",), (("committed", 0, "pulse_extra:at=20"),)),
    (
        "a lift not seen down in mid-deal was a pocket that is not empty",
        ("ld.1",),
        (
            ("committed", 0, "sensor_stuck:sensor=lift_down,value=0,at=50"),
            ("committed", 0, "double_feed:at=60"),
        ),
    ),
    (
        "a start for a board that falls silent waited for ever",
        ("m.4",),
        (("revealed", 0, "board_silent:board=dealer"),),
    ),
    (
        "a lift that was believed up on its way hung for ever",
        ("m.22",),
        (("lift leaves", 700, "sensor_stuck:sensor=lift,value=1"),),
    ),
    (
        "right hands were void because a board refused",
        ("m.7",),
        (("verdict", 0, "sensor_stuck:sensor=pocket_0,value=0"),),
    ),
    ("a lift whose board was away stuck", ("m.40",), (("lift leaves", 700, "unplugged"),)),
    (
        "a lift that the lid's sensor stopped stuck",
        ("m.21",),
        (("lift leaves", 10, "sensor_stuck:sensor=lid,value=1"),),
    ),
    (
        "a wrong pocket was no answer to a gate whose sensor stuck as a card left",
        ("ga.1",),
        (("shuffled", 1060, "sensor_stuck:sensor=gate_at,value=1"),),
    ),
    (
        "a short count was no answer to two cards at once that a late sensor told too late",
        ("la.9", "la.15"),
        (
            ("committed", 0, "sensor_late:sensor=double,ms=200,at=59"),
            ("committed", 0, "double_feed:at=60"),
        ),
    ),
    (
        "a wrong pocket was no answer to two cards at once behind one that nobody saw land",
        ("mf.3",),
        (
            ("committed", 0, "missed_landing:at=20"),
            ("committed", 0, "double_feed:at=21"),
            ("committed", 0, "sensor_stuck:sensor=double,value=0,at=21"),
        ),
    ),
    (
        "a jam was no answer to a landing that sticks as a card goes towards it",
        ("ls.1",),
        (("shuffled", 190, "sensor_stuck:sensor=land_2,value=1"),),
    ),
    (
        "a lid that was open as a deal began, and closed since, kept people from cutting for ever",
        ("li.1",),
        (("lift down", 600, "lid:for_ms=300"),),
    ),
    (
        "an attempt began while a card of the one before still fell into a pocket",
        ("fl.1",),
        (("shuffled", 120, "foreign_firmware:board=reader,for_ms=5000"),),
    ),
    (
        "an extra and a lost pulse that cancel in the count gave each card between the look before",
        ("pp.1",),
        (
            ("committed", 0, "double_feed:at=20"),
            ("committed", 0, "pulse_extra:at=20"),
            ("committed", 0, "pulse_lost:at=70"),
        ),
    ),
    (
        "a late message of the dealer board turned a card away while it was looked at again",
        ("tf.1",),
        (
            ("committed", 0, "bytes_delayed:ms=500,at=44"),
            ("committed", 0, "sensor_stuck:sensor=double,value=1,at=96"),
        ),
    ),
    (
        "a card too many was no answer where a third copy took the place of the extra card",
        ("xc.25",),
        (
            ("released", 100, "extra_card:face=53"),
            ("released", 100, "jam:place=landing,at=20"),
            ("fault", 0, "third_copy:face=3"),
        ),
    ),
    (
        "a supply whose sensor sticks below held hands was looked at by nobody",
        ("su.1",),
        (("held", 600, "sensor_stuck:sensor=supply,value=1"),),
    ),
    ("a lid left open behind the hands was a stalled lift", ("m.5",), (("released", 0, "lid"),)),
]


@pytest.mark.parametrize(
    ("seeds", "moments"), [one[1:] for one in FOUND], ids=[one[0] for one in FOUND]
)
def test_what_was_found_ends_right(
    seeds: tuple[str, ...], moments: tuple[tuple[str, float, str], ...]
) -> None:
    strikes = tuple(MomentFault(behind, parse_fault(fault), ms) for behind, ms, fault in moments)
    for seed in seeds:
        report = run_life(LifePlan(seed, 2, WearLevel(), moments=strikes))
        assert report.findings == ()
        assert report.deals == 2
        assert sum(times for _, times in report.strikes) == len(moments)

"""Bench files: what they may say, and the one line about what they may not."""

from pathlib import Path

import pytest

from controller.config import load_table
from hil_tests.harness.bench_file import BenchError, load_bench
from hil_tests.harness.features import BENCH_FEATURES
from hil_tests.harness.measurements import (
    QUANTITIES,
    MeasurementLimits,
    TargetKind,
    make_measurement,
)
from hil_tests.harness.table_daemon import table_config_text
from tests.hil.bench_text import SMALL, bench_file

EXAMPLE = Path("hil_tests/bench.toml")
TARGETS: tuple[TargetKind, ...] = ("bench", "sim", "inproc")
WRONG = [
    (SMALL.replace('operator = "Chen"', ""), "operator"),
    (SMALL + "[limits]\nspeed = 3.0\n", "speed"),
    (SMALL + "[limits]\nmisreads = -1\n", "misreads"),
    (SMALL + "[limits]\ncards_per_s = 0\n", "cards_per_s"),
    (SMALL.replace("00000000000000d1", "D1"), "dealer.id"),
    (SMALL.replace("00000000000000e1", "00000000000000d1"), "reader.id"),
    (SMALL.replace("/dev/two", "/dev/one"), "reader.port"),
    (SMALL.replace('"Chen"', '"Chen"\nfeatures = ["wings"]'), "features"),
    (SMALL.replace('"Chen"', '"Chen"\nfeatures = ["fault_menu"]'), "fault_menu"),
    (SMALL.replace('"Chen"', '"Chen"\nfeatures = ["buttons"]'), "panel.pins"),
    (SMALL.replace('"Chen"', '"Chen"\nfeatures = ["two_sets"]'), "card_set"),
    (SMALL.replace('"Chen"', '"Chen"\nprofile = "nobody-s"'), "profile"),
    (SMALL.replace("[dealer]", '[dealer]\nfirmware = "12"'), "firmware"),
    (SMALL.replace("[dealer]", "[deale]"), "deale"),
    (SMALL.replace("[dealer]", "[dealer"), "line 5"),
]


def test_what_is_wrong_with_a_bench_file_is_one_line_that_names_it(tmp_path: Path) -> None:
    for text, about in WRONG:
        path = bench_file(tmp_path, text)
        with pytest.raises(BenchError) as caught:
            load_bench(path)
        said = str(caught.value)
        assert said.startswith(str(path)), about
        assert "\n" not in said, about
        assert about in said


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="there is no such file"):
        load_bench(tmp_path / "none.toml")


def test_the_example_is_a_bench_with_every_feature_and_the_limits_that_hold_anyway(
    request: pytest.FixtureRequest,
) -> None:
    bench = load_bench(request.config.rootpath / EXAMPLE)
    assert set(bench.bench.features) == BENCH_FEATURES
    assert bench.limits == MeasurementLimits()


def test_the_daemon_of_a_bench_is_configured_as_its_file_says(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bench = load_bench(request.config.rootpath / EXAMPLE)
    path = tmp_path / "table.toml"
    path.write_text(table_config_text(bench, Path("/dev/shm/dt-x")), encoding="utf-8")
    table = load_table(path)
    assert (table.table.id, table.table.backend) == ("B01", "serial")
    assert (table.dealer.port, table.dealer.id) == (bench.dealer.port, bench.dealer.id)
    assert (table.panel, table.card_sets) == (bench.panel, bench.card_sets)


def test_every_quantity_has_a_limit_and_every_limit_a_quantity() -> None:
    assert set(QUANTITIES) == set(MeasurementLimits.__struct_fields__)


def test_a_limit_counts_on_a_bench_and_elsewhere_only_what_no_clock_measures() -> None:
    for name, quantity in QUANTITIES.items():
        limit = getattr(MeasurementLimits(), name)
        too_far = limit / 2 if quantity.is_minimum else limit + 1
        assert make_measurement(name, limit, MeasurementLimits(), "bench").is_within_limit, name
        wrong = {
            at: make_measurement(name, too_far, MeasurementLimits(), at).is_within_limit
            for at in TARGETS
        }
        in_process = quantity.everywhere or quantity.protocol
        assert wrong == {
            "bench": False,
            "sim": False if quantity.everywhere else None,
            "inproc": False if in_process else None,
        }, name

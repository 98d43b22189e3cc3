import re

import pytest

from controller.faults import CatalogueFault, driver_error_fault, fault, fault_catalogue
from drivers import errors
from tests.rows import each_row

EVERY = {
    "pocket": "N",
    "place": "gate",
    "board": "dealer",
    "port": "/dev/ttyACM0",
    "expected": 27,
    "found": 26,
    "count": 1,
    "index": 40,
    "drive": 3,
}


every_fault = each_row("row", fault_catalogue().values(), ids=lambda row: row.name)


def test_codes_and_names_are_unique(request: pytest.FixtureRequest) -> None:
    text = (request.config.rootpath / "controller" / "faults.toml").read_text("utf-8")
    names = re.findall(r'^name = "(\w+)"', text, re.MULTILINE)
    assert names == list(fault_catalogue())
    assert len({row.code for row in fault_catalogue().values()}) == len(names)


def test_rows_stand_in_the_order_of_their_codes() -> None:
    codes = [row.code for row in fault_catalogue().values()]
    assert codes == sorted(codes)


@every_fault
def test_a_fault_says_cause_and_action_in_both_languages(row: CatalogueFault) -> None:
    for text in (row.cause(), row.action()):
        assert text
        assert text.isascii()
    for text in (row.cause(language="zh"), row.action(language="zh")):
        assert re.search(r"[\u4e00-\u9fff]", text)


@every_fault
def test_both_languages_show_the_same_evidence(row: CatalogueFault) -> None:
    assert placeholders(row.cause_en) == placeholders(row.cause_zh)
    assert placeholders(row.action_en) == placeholders(row.action_zh)
    assert set(placeholders(row.cause_en)) <= set(EVERY)


@every_fault
def test_a_text_without_evidence_has_no_gap(row: CatalogueFault) -> None:
    for text in (row.cause(), row.cause(language="zh"), row.action(), row.action(language="zh")):
        assert not re.search(r"[{}\[\]]|  |[:：（(]$| $", text)


def test_evidence_stands_in_the_text_in_the_readers_language() -> None:
    jam = fault("JAM")
    assert jam.cause({"place": "gate"}) == "A card is jammed at the gate"
    assert jam.cause({"place": "gate"}, "zh") == "卡牌（分牌门）"
    short = fault("COUNT_SHORT")
    assert short.cause({"pocket": "N", "found": 26, "expected": 27}) == (
        "Count wrong: too few cards in the north pocket, 26 of 27"
    )


def test_evidence_that_is_half_known_is_left_out() -> None:
    assert fault("COUNT_SHORT").cause({"found": 26}) == "Count wrong: too few cards"


def test_only_reasons_of_the_count_check_are_misdeals() -> None:
    assert {row.code // 100 for row in fault_catalogue().values() if row.misdeal} == {1}


def test_a_name_outside_the_catalogue_is_refused() -> None:
    with pytest.raises(LookupError, match="NO_SUCH_FAULT"):
        fault("NO_SUCH_FAULT")


def test_every_error_of_the_drivers_is_a_fault() -> None:
    for kind in leaves(errors.DriverError):
        assert driver_error_fault(kind.__new__(kind)) in fault_catalogue()


def test_a_renewed_session_is_a_lost_line_for_whoever_does_not_handle_it() -> None:
    assert driver_error_fault(errors.SessionRenewed("dealer", "noise")) == "LINE_LOST"


def test_an_error_of_nobody_is_no_fault() -> None:
    with pytest.raises(LookupError):
        driver_error_fault(ValueError())


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\{(\w+)\}", text))


def leaves(kind: type[errors.DriverError]) -> list[type[errors.DriverError]]:
    below = [leaf for child in kind.__subclasses__() for leaf in leaves(child)]
    return below or [kind]

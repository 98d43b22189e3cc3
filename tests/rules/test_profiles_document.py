import importlib
import re
from functools import cache
from importlib import resources
from typing import NamedTuple

from controller.rules.penalties.offences import offence_catalogue
from controller.rules.profile import rules_by_key
from controller.rules.profile_files import load_profile, profile_names
from tests.rows import each_row
from tests.rules.shapes import choices_of

PAGE = resources.files("controller.rules").joinpath("PROFILES.md").read_text(encoding="utf-8")

MATRIX = (
    *("deck", "hand_size", "sides", "compass_roles", "play_direction", "draw_direction"),
    *("substitution", "machine_clause"),
    *("shuffle_count_first", "shuffle_count_later", "shuffler_conduct", "shuffler_deal1"),
    *("cutter_deal1", "shuffler_later", "cutter_later", "cut_limits", "turnup", "turnup_redo"),
    *("count_start", "pip_value", "first_drawer_deal1", "first_drawer_later", "leader_deal1"),
    *("leader_later", "count_check", "count_ok", "misdeal", "misdeal_after_play"),
    *("start_level", "ladder", "upgrade", "level_played", "level2_must_be_played"),
    *("A_must_be_played", "A_pass_condition", "A_fail_limit", "A_attempt_counting"),
    *("when", "payer_single", "card", "card_tie_choice", "return_to_opponent"),
    *("return_to_partner", "return_if_none_≤10", "return_level_card_≤10", "payer_double"),
    *("double_assign", "double_tie_assign", "return_visibility", "anti_single", "anti_double"),
    *("anti_mandatory", "leader_single", "leader_double", "leader_double_tie", "leader_anti"),
    *("leader_no_tribute", "leader_after_forfeited_deal", "tribute_by_non_payer"),
    *("follow", "pass_signal", "trick_end", "deal_end", "wind", "wind_for_2ND", "card_report"),
    *("report_question", "play_form", "discards", "hand_hold"),
    *("end_methods", "deal_limit", "time_limit", "time_expiry_mid_deal", "early_end", "winner"),
    *("equal_levels", "match_points", "level_points", "A_failure_points", "round", "record"),
    *("play_clock", "opening_clock", "tribute_clock", "return_clock", "tribute_overtime"),
    *("late", "other_delay"),
    *("who_may_claim", "who_decides", "warning", "violation", "foul", "foul_effect"),
    *("match_forfeit", "disqualify", "wrong_play_form", "no_card_report", "asking_count"),
    *("wrong_play_leader", "wrong_play_follower", "partner_after_exposure", "seen_card"),
    *("draw_out_of_turn", "play_out_of_turn", "declare_out_of_turn"),
    *("wrong_tribute_before_play", "wrong_tribute_after_play", "wrong_return_before_play"),
    *("wrong_return_after_play", "illegal_signal", "hidden_card", "loss_of_claim"),
    *("violations toward a foul", "fouls toward match forfeit"),
    *("match forfeits toward disqualification", "wrong play form", "missing card report"),
    *("asking/answering after report", "illegal signals", "ten-card report done"),
    *("out-of-turn warnings", "hidden-card incidents", "A failures", "warnings"),
    *("clock overruns", "rank order", "single, pair, triple", "pair of jokers", "triple + pair"),
    *("straight", "tube", "plate", "level card in sequences", "compare sequences", "bombs"),
    *("straight flush", "joker bomb", "bomb v ordinary", "full hierarchy", "wild card"),
    *("Big Two ranking", "signatures", "hands opened"),
    "regulations of the event",
)


class Row(NamedTuple):
    rule: str
    keys: list[str]
    where: list[str]
    reason: str


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def rows() -> list[Row]:
    found = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3:
            code = [name for name in quoted(cells[2]) if ":" in name]
            found.append(Row(quoted(cells[0])[0], quoted(cells[1]), code, cells[2]))
    return found


@cache
def text_of(module: str) -> str:
    file = importlib.import_module(f"controller.{module}").__file__
    assert file
    with open(file, encoding="utf-8") as source:
        return source.read()


def test_every_rule_of_the_matrix_has_its_row_and_no_other() -> None:
    assert [row.rule for row in rows()] == list(MATRIX)


def test_every_key_of_every_profile_has_a_row() -> None:
    keys = {key for name in profile_names() for key in rules_by_key(load_profile(name))}
    assert {key for row in rows() for key in row.keys} == keys


@each_row("row", rows(), ids=lambda row: row.rule)
def test_what_a_row_names_is_there(row: Row) -> None:
    for name in row.where:
        module, _, path = name.partition(":")
        if module == "offence":
            assert path in offence_catalogue()
            continue
        thing: object = importlib.import_module(f"controller.{module}")
        for step in path.split("."):
            thing = getattr(thing, step)


@each_row("row", rows(), ids=lambda row: row.rule)
def test_a_rule_without_code_has_a_reason(row: Row) -> None:
    assert row.where or row.reason.startswith("–: ")


@each_row("key", sorted({key for row in rows() for key in row.keys}))
def test_a_key_with_a_choice_is_read_where_its_rows_say(key: str) -> None:
    told = [row for row in rows() if key in row.keys]
    if len(choices_of(key)) == 1 or any(not row.where or ": shown" in row.reason for row in told):
        return
    modules = {name.partition(":")[0] for row in told for name in row.where} - {"offence"}
    names = [part for part in key.split(".") if part not in ("R12", "R13", "R14")]
    assert any(re.search(rf"\b{names[-1]}\b", text_of(module)) for module in modules)

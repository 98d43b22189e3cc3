"""The score sheet: whole, in both languages, and what was changed stays readable."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.faults import Language
from controller.machine.public.public_results import unconfirmed_corrections
from controller.machine.public.score_sheet import sheet_data
from controller.match import match_events
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.match.phase import MatchPhase
from controller.match.reducer import new_match, step
from controller.messages import Role
from controller.rules.profile_files import load_profile, profile_names
from controller.rules.regulations_page import profile_hash
from controller.rules.text_columns import cell_width
from controller.seats import SEATS
from controller.sheet.form import ScoreSheet
from controller.sheet.printed_sheet import PAGE_WIDTH, render_sheet
from tests.match.people import People, meeting
from tests.match.table import BIG_TWO, B, N, Table, from_level

HERE = Path(__file__).parent
HEAD = "ab" * 32
BOTH: tuple[Language, Language] = ("en", "zh")


def whole(match: AnyMatch) -> ScoreSheet:
    return msgspec.convert(sheet_data(match, table="t7", head=HEAD), ScoreSheet)


def played() -> Table:
    """A match with all that a sheet can show, to its signatures."""
    table = (
        Table(from_level("8")).started().cut().happens(match_events.AttemptFailed, reasons=("JAM",))
    )
    table.played("NS").valued(16, 14).returned(5, 9).out("WNE")
    table.does(match_events.ResultConfirmed, by="NS").does(match_events.ResultConfirmed, by="EW")
    table.ruled("EW", "violation").corrected(2, "WNS")
    table.ruled("EW", "foul").named("N")
    table.does(match_events.HandDealOrdered, reason="jammed").played("WNE")
    table.counted().does(match_events.AntiTributeAnswered, stands=True).out("ENW")
    table.does(match_events.ResultConfirmed, by="referee").played("NS", "NS")
    assert table.phase is MatchPhase.OVER
    return table.signed()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_played_match_is_printed_as_it_was_agreed(language: Language) -> None:
    raw = sheet_data(played().state, table="t7", head=HEAD)
    raw |= {f"{at}_at": f"14:{raw[f'{at}_ms'] // 60_000:02}" for at in ("start", "end")}
    raw["rules"]["hash"] = "0" * 64
    golden = HERE / f"sheet_{language}.txt"
    assert render_sheet(raw, language) == golden.read_text(encoding="utf-8")


def test_why_a_deal_ended_by_itself_is_said_in_words() -> None:
    lost = whole(Table().started().played("NS").in_play().ruled("NS", "match_forfeit").state)
    assert [(note.en, note.zh) for note in lost.notes][-1] == (
        "deal 2 does not count: the match is lost by a ruling",
        "第2副终止不计：本局判负",
    )
    void = whole(Table().started().played("NS").in_play().corrected(1, "WNS", "void_later").state)
    assert void.notes[-1].zh == "第2副终止不计：更正前副成绩，其后作废"


@pytest.mark.parametrize("name", profile_names())
def test_every_match_has_a_sheet_that_fits_its_page(name: str, scale: Callable[[int], int]) -> None:
    for seed in range(scale(100)):
        people = People(random.Random(f"{name} {seed}"), wild=0.1)
        match = new_match(load_profile(name), meeting())
        while match.phase is not MatchPhase.SIGNED:
            match, _ = step(match, people.next_event(match))
            if people.rng.random() < 0.02:
                _check(match)
        _check(match)


def _check(match: AnyMatch) -> None:
    raw = sheet_data(match, table="t7", head=HEAD, rules_hash="00")
    page = msgspec.json.decode(msgspec.json.encode(raw), type=ScoreSheet, strict=True)
    for language in ("zh", "en"):
        text = render_sheet(raw, language)
        assert max(map(cell_width, text.splitlines())) <= PAGE_WIDTH
    _adds_up(match, page)


def _adds_up(match: AnyMatch, page: ScoreSheet) -> None:
    """The last line's numbers are the match's."""
    if isinstance(match, BigTwoMatch):
        assert page.totals == match.totals
        assert not page.hands or page.hands[-1].totals == match.totals
        return
    assert isinstance(match, GuandanMatch)
    counting = [line for line in page.deals if line.counts]
    assert len(counting) == match.standing.deals
    assert [line.row for line in page.deals] == sorted(line.row for line in page.deals)
    shifts = any(note.zh.endswith("级") or "级(" in note.zh for note in page.notes)
    if counting and not shifts:
        assert counting[-1].levels == page.levels


def test_a_corrected_deal_shows_old_and_new() -> None:
    table = Table().started().played("NS", "WNE").corrected(2, "WNS")
    page = whole(table.state)
    (one,) = page.corrections
    assert (one.was.order, one.now.order) == (list("WNES"), list("WNSE"))
    assert (one.by, one.reason, one.choice) == ("chief", "wrong", "from_now")
    line = page.deals[1]
    assert (line.corrected, line.result, line.gain) == (True, "R14", 1)
    assert (line.written, line.levels) == ({"NS": "5", "EW": "4"}, {"NS": "5", "EW": "3"})


def test_a_voided_deal_stays_on_the_sheet_and_counts_no_more() -> None:
    table = Table().started().played("NS", "WNE", "WNS").corrected(1, "NWE", "void_later")
    page = whole(table.state)
    assert [line.counts for line in page.deals] == [True, False, False]
    assert page.deals[1].levels is None
    assert "2×" in render_sheet(sheet_data(table.state, table="t7", head=HEAD), "zh")


def test_a_forfeited_deal_names_whose_it_is_not() -> None:
    table = Table().started().in_play().ruled("EW", "foul").named("N")
    page = whole(table.state)
    line = page.deals[0]
    assert (line.outcome.forfeited_by, line.outcome.order, line.gain) == ("EW", [], 3)
    assert [one.penalty_zh for one in line.penalties] == ["记犯规"]
    assert any("指定北家领出牌" in note.zh for note in page.notes)


def test_secret_returns_are_secret_on_the_sheet() -> None:
    table = Table(B).started().played("NWS").valued(16).returned(7).played("NS")
    line = whole(table.state).deals[1]
    assert [one.card for one in line.tribute] == ["SJ"]
    assert [one.card for one in line.returns] == [None]
    assert "北→东暗" in render_sheet(sheet_data(table.state, table="t7", head=HEAD), "zh")


def test_a_return_that_nobody_noted_is_not_called_hidden() -> None:
    table = Table().started().played("NWS").valued(16).returned(None).played("NS")
    assert "北→东未记" in render_sheet(sheet_data(table.state, table="t7", head=HEAD), "zh")


def test_who_has_signed_and_who_is_missing() -> None:
    table = Table(from_level("A")).started().played("NS", "NS")
    table.does(match_events.SheetSigned, signer="NS", person="Nan")
    page = whole(table.state)
    assert [(one.signer, one.person) for one in page.signatures] == [
        ("NS", "Nan"),
        ("EW", None),
        ("referee", None),
    ]
    assert page.state == "over"
    assert page.versions[-1].version == 1
    text = render_sheet(sheet_data(table.state, table="t7", head=HEAD), "zh")
    assert "签名 南北: Nan (已签)" in text
    assert "签名 东西: ____" in text


def test_the_sheet_names_its_rules_by_their_hash() -> None:
    match = Table(B).state
    assert whole(match).rules.hash == profile_hash(match.profile).hex()
    assert whole(match).rules.name == B


def test_who_keeps_the_sheet_signs_as_that() -> None:
    page = whole(Table(B).started().state)
    assert [(one.signer, one.duty) for one in page.signatures] == [
        ("W", "scorer"),
        ("N", "checker"),
        ("referee", None),
    ]


def test_a_changed_sheet_is_a_new_version_and_the_old_one_is_listed() -> None:
    table = Table(from_level("A")).started().played("NS", "NS").signed()
    table.happens(
        match_events.ResultCorrected, deal=2, order=("N", "W", "S"), choice="from_now", reason="x"
    )
    page = whole(table.state)
    assert page.version == 2
    assert [one.version for one in page.versions] == [1, 2]
    old, new = page.versions
    assert [one.signer for one in old.signatures] == ["NS", "EW", "referee"]
    assert old.rows < new.rows
    assert new.signatures == []


def test_provisional_points_are_marked() -> None:
    table = Table(from_level("A")).started().played("NS", "NS")
    page = whole(table.state)
    assert page.score is not None
    assert "score.level_points" in page.score.provisional
    assert "暂定：" in render_sheet(sheet_data(table.state, table="t7", head=HEAD), "zh")


def test_big_two_has_cards_left_choices_and_scores() -> None:
    table = Table(BIG_TWO).started().released()
    for seat in "NWSE":
        table.does(match_events.ChoiceAnswered, seat=seat, yes=seat == "N")
    for _ in "NWSE":
        (asked, *_) = (
            table.big_two.choices.current_round().seats_asked() if table.big_two.choices else ("N",)
        )
        table.does(match_events.ChoiceAnswered, seat=asked, yes=False)
    left: Any = {"N": 0, "W": 3, "S": 5, "E": 9}
    table.does(match_events.CardsLeftEntered, left=left).does(
        match_events.ResultConfirmed, by="referee"
    )
    page = whole(table.state)
    (line,) = page.hands
    assert (line.left, line.opened, line.doubled) == (left, ["N"], [])
    assert line.totals == line.scores == page.totals
    text = render_sheet(sheet_data(table.state, table="t7", head=HEAD), "en")
    assert "open: N" in text
    assert f"9 ({line.scores['E']:+d})" in text


def test_stopped_deals_are_noted() -> None:
    table = Table().started().in_play()
    table.does(match_events.DealVoided, reason="seen", by="chief", role=Role.CHIEF)
    page = whole(table.state)
    assert all("第1副" in note.zh for note in page.notes)
    assert page.start_ms is not None
    assert page.end_ms is None


def _by_word() -> Table:
    """A result that a referee corrected by the chief's word, after the next deal had begun."""
    table = Table().started().played("NS").in_play()
    said = {"deal": 1, "order": ("N", "W", "S"), "choice": "from_now", "reason": "misread"}
    word = {"by": "Chen", "role": Role.REFEREE, "verbal": True, "entered_by": "Li Na (referee)"}
    return table.does(match_events.ResultCorrected, **said, **word)


def test_a_correction_by_word_names_the_chief_and_who_entered_it_until_he_confirms_it() -> None:
    table = _by_word()
    english, chinese = (
        render_sheet(sheet_data(table.state, table="t7", head=HEAD), one) for one in BOTH
    )
    assert "Chen (chief, by word), entered by Li Na (referee): misread" in " ".join(english.split())
    assert "not confirmed in writing yet" in " ".join(english.split())
    assert "裁判长Chen（口头），Li Na（裁判员）录入: misread，待书面确认" in chinese.replace(
        "\n    ", ""
    )
    (waiting,) = unconfirmed_corrections(table.match)
    table.does(
        match_events.CorrectionConfirmed,
        row=waiting.row,
        deal=1,
        by="Chen (chief)",
        role=Role.CHIEF,
    )
    (said,) = whole(table.state).corrections
    assert (said.entered_by, said.confirmed_by) == ("Li Na (referee)", "Chen (chief)")
    chinese = render_sheet(sheet_data(table.state, table="t7", head=HEAD), "zh")
    assert "Chen（裁判长）已书面确认" in chinese.replace("\n    ", "")


def test_a_correction_that_came_of_a_ruling_is_confirmed_with_it() -> None:
    table = Table().started().played("NS").in_play()
    table.charged("E", "foul", deal=1)
    word = {"by": "Chen", "role": Role.REFEREE, "verbal": True, "entered_by": "Lin"}
    table.does(match_events.RulingApproved, id="R1", **word)
    (said,) = whole(table.state).corrections
    assert (said.by, said.entered_by, said.confirmed_by) == ("Chen", "Lin", None)
    assert unconfirmed_corrections(table.match) == []
    table.does(match_events.VerbalRulingConfirmed, id="R1", by="Chen", role=Role.CHIEF)
    assert whole(table.state).corrections[0].confirmed_by == "Chen"


def test_a_correction_that_came_of_a_ruling_says_why_in_the_readers_language() -> None:
    table = Table().started().played("NS").in_play()
    table.charged("E", "foul", deal=1)
    table.does(match_events.RulingApproved, id="R1", by="Chen", role=Role.CHIEF)
    (said,) = whole(table.state).corrections
    assert said.reason.isascii()
    assert said.reason_zh is not None
    assert not said.reason_zh.isascii()
    page = sheet_data(table.state, table="t7", head=HEAD)
    english, chinese = (render_sheet(page, language).replace("\n    ", " ") for language in BOTH)
    assert said.reason_zh in chinese
    assert said.reason not in chinese
    assert said.reason in english


def test_why_a_person_corrected_a_result_stays_as_he_wrote_it() -> None:
    (said,) = whole(Table().started().played("NS", "WNE").corrected(2, "WNS").state).corrections
    assert said.reason_zh is None
    page = sheet_data(
        Table().started().played("NS").corrected(1, "WNS").state, table="t7", head=HEAD
    )
    assert said.reason in render_sheet(page, "zh")


def test_hands_that_are_dealt_again_by_word_name_both_and_say_why_in_words() -> None:
    table = Table().started().released().does(match_events.CountClaimed, seat="N")
    table.does(
        match_events.HandsRecounted, counts=dict.fromkeys(SEATS, 26), by="Lin", role=Role.REFEREE
    )
    (note,) = whole(table.state).notes
    assert note.en == "deal 1 is dealt again: the count was wrong, by Lin"
    assert note.zh == "第1副重新发牌：张数不符(Lin)"
    table = Table().started().in_play()
    word = {"by": "Chen", "role": Role.REFEREE, "verbal": True, "entered_by": "Lin"}
    table.does(match_events.DealVoided, reason="cards were seen", **word)
    (note,) = whole(table.state).notes
    assert note.en.endswith("cards were seen, by Chen (chief, by word), entered by Lin")
    assert note.zh == "第1副重新发牌：cards were seen(裁判长Chen（口头），Lin录入)"


def test_a_level_that_a_ruling_moved_is_written_as_a_person_would() -> None:
    table = Table(N).started().in_play().ruled("EW", "foul")
    (told,) = (note for note in whole(table.state).notes if "level" in note.en)
    assert told.en == "North-South, one level up (ruling R1)"
    assert told.zh == "南北升1级(R1)"

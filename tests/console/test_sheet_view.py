"""The score sheet as a page has it, and as a file for a spreadsheet."""

import csv
import io
from datetime import UTC, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.console.view.sheet_page import (
    build_sheet_view,
    safe_cell,
    sheet_csv,
    sheet_file_name,
    with_wall_times,
)
from controller.faults import Language
from controller.match import match_events
from controller.messages import Role
from controller.rules.penalties.offences import find_offence
from controller.words import Words
from tests.console.papers import a_sheet, played, shown_as
from tests.match.table import BIG_TWO, B, Table, from_level

GOLDEN = Path(__file__).parent / "golden"
CHINA = timezone(timedelta(hours=8))
LEFT = {"N": 0, "W": 3, "S": 7, "E": 1}


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def cells(text: str, deal: int) -> dict[str, str]:
    heading, *lines = rows(text)
    return dict(zip(heading, lines[deal - 1], strict=True))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_played_match_is_written_as_it_was_agreed(language: Language) -> None:
    golden = GOLDEN / f"sheet_{language}.csv"
    assert sheet_csv(a_sheet(played()), language, CHINA).encode() == golden.read_bytes()


def test_a_file_says_when_a_match_began_and_ended_and_by_which_rulebook() -> None:
    times = {"start_at": "2027-01-01T06:00:20+00:00", "end_at": "2027-01-01T07:05:00+00:00"}
    sheet = a_sheet(played(), **times)
    chinese = cells(sheet_csv(sheet, "zh", CHINA), 1)
    assert (chinese["开始"], chinese["结束"]) == ("2027-01-01 14:00", "2027-01-01 15:05")
    assert chinese["规则"] == "掼蛋国际竞赛标准"
    english = cells(sheet_csv(sheet, "en", UTC), 1)
    assert (english["Start"], english["End"]) == ("2027-01-01 06:00", "2027-01-01 07:05")
    assert english["Rules"] == "Guandan International Competition Standard"
    unknown = cells(sheet_csv(a_sheet(played(), start_at=None, end_at="noon"), "en"), 1)
    assert (unknown["Start"], unknown["End"]) == ("", "noon")


def test_a_correction_by_word_says_whose_it_was_and_that_it_waits_for_the_chief() -> None:
    table = Table().started().played("NS").in_play()
    said = {"deal": 1, "order": ("N", "W", "S"), "choice": "from_now", "reason": "misread"}
    word = {"by": "陈明", "role": Role.REFEREE, "verbal": True, "entered_by": "李娜 (referee)"}
    table.does(match_events.ResultCorrected, **said, **word)
    (told,) = build_sheet_view(a_sheet(table)).corrected
    assert told.by == Words(
        "陈明 (chief, by word), entered by 李娜 (referee)", "裁判长陈明（口头），李娜（裁判员）录入"
    )
    assert told.confirmed == Words("not confirmed in writing yet", "待书面确认")
    (row,) = table.match.spoken
    chief = {"by": "陈 (Hall-1-chief)", "role": Role.CHIEF}
    table.does(match_events.CorrectionConfirmed, row=row, deal=1, **chief)
    (told,) = build_sheet_view(a_sheet(table)).corrected
    assert told.confirmed == Words(
        "confirmed by 陈 (Hall-1-chief)", "陈（Hall-1 裁判长）已书面确认"
    )


def test_why_a_ruling_corrected_a_result_is_told_in_both_languages() -> None:
    table = Table().started().played("NS").in_play()
    table.charged("E", "foul", deal=1)
    table.does(match_events.RulingApproved, id="R1", by="Chen", role=Role.CHIEF)
    (told,) = build_sheet_view(a_sheet(table)).corrected
    row = find_offence(table.match.rulings[0].charge.offence)
    assert told.reason == Words(row.en, row.zh)


def test_a_match_began_and_ended_by_the_wall_of_the_table_that_tells_of_it() -> None:
    untold = a_sheet(played(), start_at=None, end_at=None, start_ms=60_000, end_ms=120_000)
    state = shown_as(untold)
    match = msgspec.structs.replace(state.match, at_ms=180_500)
    state = msgspec.structs.replace(state, match=match, time="2027-01-01T14:30:00.500+08:00")
    sheet = with_wall_times(untold, state)
    assert sheet.start_at == "2027-01-01T14:28:00+08:00"
    assert sheet.end_at == "2027-01-01T14:29:00+08:00"
    other = msgspec.structs.replace(match, match="another")
    for told in (None, msgspec.structs.replace(state, match=other)):
        assert with_wall_times(untold, told) == untold
    assert with_wall_times(untold, msgspec.structs.replace(state, time="noon")) == untold


def test_excel_reads_the_file_as_it_is() -> None:
    body = sheet_csv(a_sheet(played()), "zh").encode()
    assert body.startswith(b"\xef\xbb\xbf")
    assert body.count(b"\r\n") == body.count(b"\n")
    assert len({len(row) for row in rows(body.decode())}) == 1


def test_a_row_says_what_the_sheet_does() -> None:
    text = sheet_csv(a_sheet(played()), "zh")
    corrected = cells(text, 2)
    assert (corrected["上游"], corrected["下游"], corrected["升级"]) == ("西", "东", "1")
    assert (corrected["已更正"], corrected["原记级数"]) == ("是", "J / 10")
    assert corrected["贡牌"] == "西→北 SJ；东→南 A"
    forfeited = cells(text, 3)
    assert (forfeited["判负方"], forfeited["上游"]) == ("东西", "")
    assert "记犯规 A15.3.7" in forfeited["判罚"]
    assert cells(text, 4)["人工发牌"] == "是"
    assert cells(text, 5)["贡牌"] == "抗贡"


def test_a_name_that_is_a_formula_stays_a_name() -> None:
    sheet = a_sheet(Table(from_level("A")).started().played("NS", "NS"))
    pair = msgspec.structs.replace(sheet.pairs["NS"], name='=HYPERLINK("http://x")', id="+1")
    sheet = msgspec.structs.replace(sheet, pairs=sheet.pairs | {"NS": pair}, event="@SUM(A1)")
    row = cells(sheet_csv(sheet, "zh"), 1)
    assert (row["南北队名"], row["南北队号"]) == ('\'=HYPERLINK("http://x")', "'+1")
    assert row["比赛"] == "'@SUM(A1)"


@given(st.text())
def test_no_text_is_a_formula(text: str) -> None:
    assert safe_cell(text)[:1] not in ("=", "+", "-", "@", "\t", "\r")
    assert safe_cell(text).endswith(text)


@given(st.integers())
def test_numbers_stay_numbers(number: int) -> None:
    assert int(safe_cell(number)) == number


def test_the_levels_of_a_loser_are_a_number_and_no_formula() -> None:
    assert safe_cell(-1) == "-1"
    assert safe_cell("-1") == "'-1"
    assert safe_cell(None) == ""


def test_secret_returns_stay_secret() -> None:
    table = Table(B).started().played("NWS").valued(16).returned(7).played("NS")
    assert cells(sheet_csv(a_sheet(table), "zh"), 2)["还牌"] == "北→东 暗"


def test_a_return_that_nobody_noted_is_not_called_hidden() -> None:
    table = Table().started().played("NWS").valued(16).returned(None).played("NS")
    assert cells(sheet_csv(a_sheet(table), "zh"), 2)["还牌"] == "北→东 未记"


def test_big_two_has_a_row_a_deal_with_scores_of_four() -> None:
    table = Table(BIG_TWO).started()
    sheet = a_sheet(table)
    assert len(rows(sheet_csv(sheet, "zh"))) == 1
    assert "南 得分" in rows(sheet_csv(sheet, "zh"))[0]


def test_what_no_text_has_is_named() -> None:
    shown = build_sheet_view(a_sheet(played()))
    assert [words.zh for words in shown.provisional] == ["级分换算表"]
    assert build_sheet_view(a_sheet(Table().started())).provisional == []


def test_a_key_that_is_not_known_here_is_named_by_itself() -> None:
    sheet = a_sheet(played())
    assert sheet.score is not None
    score = msgspec.structs.replace(sheet.score, provisional=["score.of_tomorrow"])
    shown = build_sheet_view(msgspec.structs.replace(sheet, score=score))
    assert [(words.en, words.zh) for words in shown.provisional] == [("score.of_tomorrow",) * 2]


def test_a_file_is_named_so_that_any_system_takes_it() -> None:
    sheet = a_sheet(played(), match='cup/1 "春"')
    assert sheet_file_name(sheet, ".csv") == "sheet-cup_1____-v1.csv"


def test_who_has_signed_stands_on_the_file() -> None:
    table = played()
    assert cells(sheet_csv(a_sheet(table), "zh"), 1)["签名"] == "未签"
    for signer in ("NS", "EW", "referee"):
        table.does(match_events.SheetSigned, signer=signer, person="Nan")
    assert cells(sheet_csv(a_sheet(table), "zh"), 1)["签名"] == "已签"

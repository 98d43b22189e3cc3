"""Time in a match, from a referee's tablet: slow players, the end of time, a pair that is late."""

import re

import pytest
from playwright.async_api import expect

from controller.match import match_events
from controller.messages import PublicState
from tests.browser.halls import PlayedHall
from tests.browser.pages import AtDesk, because, before_table, yes
from tests.browser.people import PHONE
from tests.browser.said import Said
from tests.match.table import N, Table, knockout, timed
from tests.waiting import until

SLOW = timed(at_time="stop_now", last_start_margin_s=5)
PLAY_S, WARNED_S = 20, 10
"""By the international rulebook; LATE_S by that of Huainan."""
LATE_S = 300


@pytest.mark.parametrize("script", [knockout(SLOW)], ids=["timed"])
async def test_a_slow_player_is_counted_for_and_time_ends_a_match_that_needs_a_winner(
    played: PlayedHall, said: Said
) -> None:
    referee = AtDesk(await played.comes("ref", size=PHONE), "T01")
    chief = AtDesk(await played.comes("chief"), "T01")
    at = await before_table(chief.person, "T01")
    played.people.in_play().does(match_events.LeadMade)
    await referee.opens("clock")
    east = referee.page.locator(".seat-clock", has_text=re.compile("Eve"))
    await referee.presses("call_clock", east)
    await until(lambda: any(c.duty == "play" for c in played.match.clocks))
    played.tables.turn(PLAY_S + 1)
    await expect(east.locator(".left")).to_contain_text(said("rulings.time-over"))
    panel = referee.page.locator("#panel-clock")
    warning = said.either("建议：口头警告", "oral warning?")
    await expect(panel).to_contain_text(warning)
    await referee.person.shot("overrun")
    warn = referee.order("warn", east)
    await referee.presses("warn", east)
    await expect(warn).to_have_attribute("data-fate", "seen")
    played.tables.turn(WARNED_S + 1)
    assert "play_violation" in _called(played.state)
    again = panel.locator(".wait", has_text=said.either("记违例", "violation?"))
    await again.get_by_role("button", name=said("rulings.to-charge")).click()
    answer = referee.page.locator(".charge .answer").first
    ruled = said.either(
        "第2次超时：记违例，停止出牌权一次（A21.1）", "step 2: violation, this turn is lost (A21.1)"
    )
    await expect(answer).to_contain_text(ruled)
    await referee.rules(answer)
    await referee.opens("clock")
    await referee.presses("confirm", east)
    await until(lambda: not any(c.duty == "play" for c in played.match.clocks))
    assert [one.offence for one in played.match.rulings] == ["delay_play"]
    assert _called(played.state) == set()

    clock = played.match.clock
    assert clock is not None
    played.tables.turn(clock.left_s - 3)
    assert played.match.announced == "last_deal"
    await at.says("clocks", said("table.clock.last_deal"))
    played.tables.turn(4)
    assert played.match.announced == "time_up"
    await at.says("clocks", said("table.clock.over"))
    await at.goes_on("stop_deal", because("时间到"))
    await until(lambda: played.match.phase == "match_check")
    await at.says("now-next", said.either("平级", "equal"))
    await at.person.shot("equal")
    await at.page.locator("#now-link a").click()
    await expect(chief.page.locator("#panel-more")).to_be_visible()
    await chief.presses("extra_deal")
    asked = chief.page.locator("dialog[open]")
    second_deal = said.either("第2副", "deal 2")
    await expect(asked.locator(".outlook")).to_contain_text(second_deal)
    await asked.locator("input[type=text]").fill("淘汰赛须分胜负")
    await chief.answers()
    await until(lambda: played.match.extra)
    assert played.events("ExtraDealOrdered")[0]["by"] == "chief (chief)"
    played.people.played("NS")
    assert played.match.phase == "over"
    at = await before_table(referee.person, "T01")
    await at.says("head", said("table.extra"))
    await at.says("result", said("table.result.winner", side=said.side("NS")))
    await at.says("result", said.either("加打一副获胜", "won the extra deal"))
    assert (played.match.deal, played.match.levels) == (2, {"NS": "5", "EW": "2"})


@pytest.mark.parametrize("script", [Table(N)], ids=["late"])
async def test_a_pair_that_does_not_come_loses_by_default(played: PlayedHall, said: Said) -> None:
    referee = await played.comes("ref")
    at = await before_table(referee, "T01")
    played.people.seated("NES")
    chief = AtDesk(await played.comes("chief"), "T01")
    at_chief = await before_table(chief.person, "T01")
    await at_chief.goes_on("start_match", yes)
    await until(lambda: played.events("Started"))
    played.tables.turn(LATE_S + 1)
    assert "late_default" in _called(played.state)
    await at.says(
        "wait-list", said.either("选手未到场，建议：弃权判负", "players are late: default?")
    )
    await referee.shot("late")
    desk = AtDesk(referee, "T01")
    await desk.opens("desk")
    await desk.page.locator(".suggested button").click()
    answer = desk.page.locator(".charge .answer").first
    too_late = said.either(
        "超过规定时间，按弃权处：本局判负（R6.1）",
        "too late, it counts as default: match lost (R6.1)",
    )
    ends = said.either("本局结束：南北胜", "The match ends: North–South wins")
    await expect(answer).to_contain_text(too_late)
    await expect(answer.locator(".outlook")).to_contain_text(ends)
    await answer.get_by_role("button", name=said("rulings.propose")).click()
    await until(lambda: played.match.rulings)
    assert (played.match.verdict, played.match.rulings[0].needs) == (None, "chief")
    await chief.opens("desk")
    await chief.presses("approve", chief.page.locator(".case").first)
    asked = chief.page.locator("dialog[open]")
    lost = said.either("本局判负", "match lost")
    colon, loser = said("rulings.colon"), said.side("EW")
    await expect(asked).to_contain_text(f"{lost}{colon}{loser}")
    await chief.answers()
    await until(lambda: played.match.phase == "over")
    assert played.match.verdict is not None
    assert (played.match.verdict.winner, played.match.verdict.how) == ("NS", "forfeit")
    assert played.events("RulingApproved")[0]["by"] == "chief (chief)"
    at = await before_table(referee, "T01")
    await at.says("result", said("table.result.winner", side=said.side("NS")))
    late, holds = said.either("迟到", "late at the table"), said("table.ruling.decided")
    await at.says("ruled", f"{late} · {lost} (R6.1) · {holds}")


def _called(state: PublicState) -> set[str]:
    """Return for what a referee is called."""
    return {call.reason for call in state.calls}

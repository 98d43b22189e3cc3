"""The ruling desk in a browser, over a match that the test plays: claims, rulings, corrections."""

from urllib.parse import urljoin

import pytest
from playwright.async_api import Page, expect

from controller.match import match_events
from tests.browser.halls import PlayedHall
from tests.browser.pages import AtDesk, before_table
from tests.browser.people import PHONE
from tests.browser.reading import too_small
from tests.browser.said import Said
from tests.console.fake import PIN
from tests.match.table import N, Table
from tests.waiting import until


async def test_a_claimed_count_is_searched_counted_and_dealt_again(
    played: PlayedHall, said: Said
) -> None:
    played.people.released()
    referee = AtDesk(await played.comes("ref", size=PHONE), "T01")
    await referee.opens("count")
    await referee.presses("claim_count")
    await referee.page.locator("dialog[open]").get_by_text(said.seat("W"), exact=True).click()
    await referee.answers()
    claim = said.either("申告张数不符", "claims a wrong count")
    await expect(referee.page.locator(".claimed")).to_contain_text(claim)
    for seat in "NSE":
        await referee.page.locator(f"#count-{seat}").fill("27")
    await referee.page.locator("#count-W").fill("26")
    await expect(referee.page.locator(".outcome")).to_contain_text(
        said.either("共107，应108", "107 in all, 108 due")
    )
    await referee.person.shot("count")
    assert await too_small(referee.page) == []
    await referee.presses("recount")
    await referee.answers()
    await until(lambda: played.match.misdeals == 1)
    assert played.match.claimed is None
    played.people.released()
    sorting = said.either("清点理牌", "count and sort")
    await expect(referee.page.locator(".phase")).to_contain_text(sorting)

    # The same pair again: the counts are the chief's, and right this time.
    await referee.presses("claim_count")
    await referee.page.locator("dialog[open]").get_by_text(said.seat("E"), exact=True).click()
    await referee.answers()
    await referee.page.locator("#panel-count .ways").wait_for()
    await referee.page.get_by_text(said("rulings.all-as-due")).click()
    await expect(referee.page.locator(".outcome")).to_contain_text(said("rulings.outcome.right"))
    await referee.presses("recount")  # without the chief's word nothing is sent
    assert played.match.claimed == "E"
    await referee.page.locator("#panel-count").get_by_text(said("rulings.by-word")).click()
    await referee.page.locator("#panel-count .by-word input[type=text]").fill("Chen")
    await referee.presses("recount")
    await until(lambda: played.match.claimed is None)
    assert played.match.phase == "count_check"


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_foul_is_proposed_by_a_referee_and_approved_by_the_chief(
    played: PlayedHall, said: Said
) -> None:
    moves = said("rulings.moves", side=said.side("NS"), **{"from": 2, "to": 5})
    played.people.in_play().does(match_events.LeadMade)
    referee = AtDesk(await played.comes("ref", size=PHONE), "T01")
    chief = AtDesk(await played.comes("chief"), "T01")
    await referee.opens("desk")
    desk = referee.page.locator("#panel-desk")
    await desk.locator(".chips button", has_text="Eve").first.click()
    for which in (
        said.either("非法信号", "Illegal signals"),
        said.either("明显传递非法信号", "plain illegal signal"),
        said.either("语言、咳嗽等声音", "by words, coughing or other sounds"),
    ):
        await desk.get_by_role("button", name=which, exact=True).click()
    await desk.locator(".charge .toggle input").first.check()  # it harmed the other side
    await desk.locator(".chips button", has_text="Nan").last.click()
    answer = desk.locator(".answer").first
    await expect(answer).to_contain_text("A15.3.3②")
    await expect(answer.locator(".outlook")).to_contain_text(moves)
    await referee.person.shot("charge")
    assert await too_small(referee.page) == []
    before = played.match.levels
    await answer.get_by_role("button", name=said("rulings.propose")).click()
    await until(lambda: played.match.rulings)
    assert played.match.levels == before  # a proposal does nothing
    for words in (said("rulings.waits-chief"), "Eve", said.either("记犯规", "foul")):
        await expect(desk.locator(".charge .proposed")).to_contain_text(words)
    await expect(desk.locator(".answer")).to_have_count(0)
    await expect(desk.locator('.charge [aria-pressed="true"]', has_text="Eve")).to_have_count(0)

    for path, waiting in (("/", "#list"), ("/table/T01", "#wait-list")):
        await chief.person.opens(path)
        whose = said.either("待裁判长裁定：东家", "waits for the chief referee: East")
        await expect(chief.page.locator(waiting)).to_contain_text(whose)
    await chief.opens("desk")
    case = chief.page.locator(".case").first
    await expect(case.locator(".outlook")).to_contain_text(moves)
    await chief.person.shot("case")
    await chief.presses("approve", case)
    await chief.answers()
    await until(lambda: played.match.phase == "forfeit")
    assert played.match.levels == {"NS": "5", "EW": "2"}
    assert played.match.rulings[0].approved_by == "chief (chief)"
    await expect(chief.page.locator('.case[data-state="decided"]')).to_have_count(1)
    await chief.person.shot("decided")


async def test_an_offence_entered_in_part_is_still_there_when_the_page_is_loaded_anew(
    played: PlayedHall, said: Said
) -> None:
    played.people.in_play().does(match_events.LeadMade)
    referee = AtDesk(await played.comes("ref"), "T01")
    await referee.opens("desk")
    charge = referee.page.locator("#panel-desk .charge")
    out_of_turn = said.either("越序出牌", "play out of turn")
    await charge.get_by_role("button", name="Eve").first.click()
    await charge.get_by_role("button", name=out_of_turn, exact=True).click()
    await charge.locator(".chips button", has_text="Nan").last.click()
    await expect(charge.locator(".answer").first).to_be_visible()
    chosen = charge.locator('.chips > [aria-pressed="true"]')
    before = await chosen.all_inner_texts()
    await referee.page.reload()
    await expect(charge.locator(".answer").first).to_be_visible()
    assert await chosen.all_inner_texts() == before

    # Another person in the same window is not shown it; the one who entered it goes on with it.
    await logs_in(referee.page, "chief")
    await referee.opens("desk")
    await expect(charge.get_by_role("button", name="Eve").first).to_be_visible()
    await expect(chosen.filter(has_text="Eve")).to_have_count(0)
    await logs_in(referee.page, "ref")
    await referee.opens("desk")
    await expect(charge.locator(".answer").first).to_be_visible()
    assert await chosen.all_inner_texts() == before

    await charge.get_by_role("button", name=said("rulings.clear")).click()
    await referee.page.reload()
    await expect(charge.get_by_role("button", name="Eve").first).to_be_visible()
    await expect(chosen.filter(has_text="Eve")).to_have_count(0)


async def logs_in(page: Page, who: str) -> None:
    """Log in at the login page, whoever was logged in before."""
    await page.goto(urljoin(page.url, "/login"))
    await page.locator("input[name=name]").fill(who)
    await page.locator("input[name=pin]").fill(PIN)
    await page.locator("#enter").click()
    await page.wait_for_url(lambda url: "/login" not in url)


async def test_an_offence_entered_in_part_is_forgotten_when_its_person_logs_out(
    played: PlayedHall, said: Said
) -> None:
    played.people.in_play().does(match_events.LeadMade)
    referee = AtDesk(await played.comes("ref"), "T01")
    await referee.opens("desk")
    charge = referee.page.locator("#panel-desk .charge")
    eve = charge.get_by_role("button", name="Eve").first
    await eve.click()
    await expect(eve).to_have_attribute("aria-pressed", "true")
    await referee.page.get_by_role("button", name=said("shell.out"), exact=True).click()
    await referee.page.wait_for_url("**/login")
    await logs_in(referee.page, "ref")
    await referee.opens("desk")
    await expect(eve).to_have_attribute("aria-pressed", "false")


async def test_a_result_is_corrected_before_and_after_the_next_deal(
    played: PlayedHall, said: Said
) -> None:
    played.people.played("NS")
    assert played.match.levels == {"NS": "5", "EW": "2"}
    referee = AtDesk(await played.comes("ref"), "T01")
    await referee.opens("correct")
    await _corrects(referee, said, "E", "W")
    await referee.answers()
    await until(lambda: played.match.levels == {"NS": "2", "EW": "5"})

    played.people.played("EW").in_play().does(match_events.LeadMade)
    assert played.match.levels == {"NS": "2", "EW": "8"}
    chief = AtDesk(await played.comes("chief"), "T01")
    await chief.opens("correct")
    await _corrects(chief, said, "N", "S")
    choices = chief.page.locator(".choice")
    for at, words in enumerate(
        (
            said("rulings.moves", side=said.side("NS"), **{"from": 2, "to": 5}),
            said("rulings.void-deals", deals=2),
            said.either("级数不变", "Levels stay"),
        )
    ):
        await expect(choices.nth(at)).to_contain_text(words)
    await chief.person.shot("three-choices")
    await choices.nth(0).locator("input").check()
    await chief.presses("adjust")
    await chief.answers()
    await until(lambda: played.match.levels["NS"] == "5")
    assert played.match.levels == {"NS": "5", "EW": "5"}
    assert (played.match.deal, played.match.level) == (3, "8")  # what is played is played

    await referee.opens("correct")
    await _corrects(referee, said, "E", "W")
    await referee.page.locator(".choice input").nth(0).check()
    await referee.presses("adjust")
    await referee.person.sees(said("rulings.word-only"))
    word = referee.page.locator("#panel-correct .by-word input")
    await word.first.check()
    await word.last.fill("Chen")
    await referee.presses("adjust")
    await referee.answers()
    await until(lambda: played.match.spoken)
    entered = said.either(
        "裁判长Chen（口头），ref（裁判员）录入", "Chen (chief, by word), entered by ref (referee)"
    )
    await expect(referee.page.locator(".corrected")).to_contain_text(entered)
    await chief.opens("desk")
    waiting = chief.page.locator('.case[data-state="unconfirmed"]')
    await expect(waiting).to_contain_text(entered)
    await chief.person.shot("spoken")
    await chief.presses("confirm_verbal", waiting)
    await until(lambda: not played.match.spoken)
    await expect(waiting).to_have_count(0)


async def _corrects(at: AtDesk, said: Said, *order: str) -> None:
    """Say what the result of the first deal was, and why, up to the last button."""
    panel = at.page.locator("#panel-correct")
    await panel.locator(".deals button").first.click()
    seats = panel.locator("button.pick")
    for seat in (order[0], "N" if order[0] in "EW" else "E"):  # they end no deal: nothing is asked
        await seats.filter(has_text=said.seat(seat)).click()
    await expect(panel.locator(".outlook")).to_have_count(0)
    await seats.filter(has_text=said.seat(order[0])).click()  # taken back
    for seat in order:
        await seats.filter(has_text=said.seat(seat)).click()
    await panel.get_by_role("button", name=said("rulings.reason.order_entered_wrongly")).click()
    if await panel.locator(".choice").count() == 1:
        await at.presses("adjust")


async def test_the_judge_says_what_a_wrong_lead_contains(played: PlayedHall, said: Said) -> None:
    referee = AtDesk(await played.comes("ref", size=PHONE), "T01")
    await referee.opens("judge")
    deck = referee.page.locator("#panel-judge .deck")
    for card in ("♠9", "♥9", "♣9", "♦J"):
        await deck.get_by_role("button", name=card, exact=True).click()
    illegal = said.either("不合法", "not legal")
    await expect(referee.page.locator(".verdict")).to_contain_text(illegal)
    await referee.page.locator(".ruling").get_by_role("button").click()
    triple = said.either("三同张", "triple")
    await expect(referee.page.locator(".kinds")).to_contain_text(triple)
    await referee.person.shot("contained")
    assert await too_small(referee.page) == []


async def test_an_observer_is_offered_nothing(played: PlayedHall, said: Said) -> None:
    played.people.in_play().does(match_events.LeadMade)
    guest = AtDesk(await played.comes("obs"), "T01")
    await guest.opens("desk")
    await expect(guest.page.locator("#panel-desk .charge")).to_be_hidden()
    await guest.opens("more")
    await expect(guest.order("redeal").locator("> button").first).to_be_disabled()
    may_not = said("rulings.not-your-role", role=said("role.observer"))
    await expect(guest.order("redeal").locator(".why")).to_have_text(may_not)


@pytest.mark.parametrize("script", [Table(N).started()], ids=["huainan"])
async def test_words_out_of_turn_are_warned_and_cards_out_of_turn_cost_a_level(
    played: PlayedHall, said: Said
) -> None:
    played.people.in_play().does(match_events.LeadMade)
    referee = AtDesk(await played.comes("ref", size=PHONE), "T01")
    await referee.opens("desk")
    declared = said.either(
        "越序表态（含出牌的手势、动作或语言）", "declared out of turn, by word or gesture"
    )
    answer = await referee.accuses("Eve", declared, by="Nan")
    await expect(answer).to_contain_text(said.either("口头警告 R6.2", "oral warning R6.2"))
    await expect(answer).to_contain_text(
        said.either("该方本副第1次", "no. 1 of this side in this deal")
    )
    goes_on = said.either("由应出牌者继续出牌。", "Play goes on with whose turn it is.")
    await expect(referee.remedy).to_have_text(said("rulings.cards-then") + goes_on)
    await referee.rules(answer)
    (one,) = played.match.rulings
    assert (one.penalty, one.state, one.approved_by) == ("warning", "decided", "ref (referee)")
    await referee.counts(said("rulings.count.warning"), "0", "1")

    chief = AtDesk(await played.comes("chief"), "T01")
    await chief.opens("desk")
    await chief.counts(said("rulings.count.warning"), "0", "1")
    by_ref = said("by.person", name="ref", role=said("role.referee"))
    await expect(chief.page.locator(".case")).to_contain_text(
        said("rulings.approved-by", by=by_ref)
    )
    out_of_turn = said.either("越序出牌", "play out of turn")
    answer = await chief.accuses("Wu", out_of_turn, by="Sun")
    await expect(chief.remedy).to_contain_text(said.either("牌局继续进行", "Play goes on"))
    await expect(answer.locator(".effects")).to_have_text(
        said.either("南北升1级，牌局继续", "North-South, one level up; play goes on")
    )
    moves = said("rulings.moves", side=said.side("NS"), **{"from": 2, "to": 3})
    await expect(answer.locator(".outlook")).to_contain_text(moves)
    await chief.person.shot("a-level")
    await chief.rules(answer, grave=True)
    await until(lambda: len(played.match.rulings) == 2)
    assert played.match.levels == {"NS": "3", "EW": "2"}
    assert (played.match.phase, played.match.level) == ("play", "2")
    await chief.counts(said("rulings.count.foul"), "0", "1")
    assert [one["id"] for one in played.events("RulingApproved")] == ["R1", "R2"]
    at = await before_table(chief.person, "T01")
    await at.says("head", said("table.levels", NS=3, EW=2))
    foul, holds = said.either("记犯规", "foul"), said("table.ruling.decided")
    await at.says("ruled", f"{out_of_turn} · {foul} (R6.2) · {holds}")


async def test_wrong_plays_and_a_report_that_was_forgotten_are_judged_and_counted(
    played: PlayedHall, said: Said
) -> None:
    played.people.in_play().does(match_events.LeadMade)
    referee = AtDesk(await played.comes("ref"), "T01")
    await referee.opens("desk")
    unreported = said.either("未主动报牌", "cards left not reported")
    taken_back = said.either("收回到应报牌时的状况", "play taken back to the moment")
    for penalty, effect in (
        (
            said.either("口头警告", "oral warning"),
            said.either("该对选手本局第1次", "no. 1 of this pair"),
        ),
        (
            said.either("记违例", "violation"),
            said.either(
                "东家停止一圈出牌权或跟牌权", "East neither leads nor follows for one trick"
            ),
        ),
    ):
        answer = await referee.accuses("Eve", unreported, by="Nan")
        await expect(answer).to_contain_text(f"{penalty} A12.1–2")
        await expect(answer).to_contain_text(effect)
        await expect(referee.remedy).to_contain_text(taken_back)
        await referee.rules(answer)
    warnings, violations = said("rulings.count.warning"), said("rulings.count.violation")
    await referee.counts(warnings, "0", "1")
    await referee.counts(violations, "0", "1")

    answer = await referee.accuses("Nan", said.either("越序出牌", "play out of turn"), by="Eve")
    await expect(answer).to_contain_text(
        said.either("停止出牌权一次 A17.2.1", "this turn is lost A17.2.1")
    )
    await expect(answer).to_contain_text(
        said.either("北家停止出牌权一次", "North does not play this time")
    )
    await expect(referee.remedy).to_contain_text(
        said.either("被越过的上家出牌或过牌", "who was passed over plays or passes")
    )
    await referee.rules(answer)

    await referee.opens("judge")
    deck = referee.page.locator("#panel-judge .deck")
    for one in ("♠9", "♥9", "♣9", "♦J"):
        await deck.get_by_role("button", name=one, exact=True).click()
    illegal = said.either("不合法", "not legal")
    await expect(referee.page.locator(".verdict")).to_contain_text(illegal)
    await referee.page.locator(".ruling").get_by_role("button").click()
    kinds = referee.page.locator(".kinds li")
    contained = [("单张", "single"), ("对子", "pair"), ("三同张", "triple")]
    await expect(kinds).to_have_text([said.either(*kind) for kind in contained])

    await referee.opens("desk")
    wrong_lead = said.either(
        "领出牌方出错牌（含带下暴露张）", "wrong play, or a card exposed with it, by who led"
    )
    answer = await referee.accuses("Sun", wrong_lead, by="Wu")
    await expect(referee.remedy).to_contain_text(
        said.either(
            "由其左手方选手指定其中某一牌型重出", "the player on his left names a combination"
        )
    )
    others = referee.page.locator(".charge .others")
    await others.locator("summary").click()
    violation = others.locator('.answer[data-penalty="violation"]')
    loses_a_trick = said.either(
        "南家停止一圈出牌权或跟牌权", "South neither leads nor follows for one trick"
    )
    await expect(violation).to_contain_text(loses_a_trick)
    await violation.get_by_role("button", name=said("rulings.propose")).click()
    await until(lambda: len(played.match.rulings) == 4)
    assert [one.state for one in played.match.rulings] == ["decided"] * 3 + ["proposed"]
    await referee.counts(violations, "0", "1")

    chief = AtDesk(await played.comes("chief"), "T01")
    await chief.opens("desk")
    case = chief.page.locator(".case").first
    await expect(case).to_contain_text(loses_a_trick)
    await chief.presses("approve", case)
    await until(lambda: played.match.rulings[-1].state == "decided")
    await referee.counts(violations, "1", "1")
    assert [one["id"] for one in played.events("RulingApproved")] == ["R1", "R2", "R3", "R4"]
    at = await before_table(referee.person, "T01")
    await at.says("journal", wrong_lead)
    assert played.match.levels == {"NS": "2", "EW": "2"}

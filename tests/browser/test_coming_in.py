"""Who comes in, and who does not."""

import pytest
from playwright.async_api import expect

from controller.faults import Language
from controller.messages import Role
from tests.browser.people import People


@pytest.mark.parametrize(
    ("language", "heading"),
    [("zh", "无人等待"), ("en", "Nobody waits")],
    ids=["chinese", "english"],
)
async def test_a_referee_logs_in_and_sees_the_hall_in_his_language(
    people: People, language: Language, heading: str
) -> None:
    referee = await people.comes("Li Na", Role.REFEREE, language=language)
    await referee.sees(heading)
    await referee.sees("T01-01")
    await referee.sees("T01-02")
    await expect(referee.page.locator("html")).to_have_attribute(
        "lang", "zh-CN" if language == "zh" else "en"
    )
    await referee.shot(f"hall-{language}")


async def test_a_wrong_pin_lets_nobody_in(people: People) -> None:
    people.watched.expected |= {401, 403}
    stranger = await people.stranger()
    await stranger.opens("/")
    await stranger.page.wait_for_url("**/login**")
    await stranger.page.locator("input[name=name]").fill("Li Na")
    await stranger.page.locator("input[name=pin]").fill("0000")
    await stranger.page.locator("#enter").click()
    await expect(stranger.page.get_by_role("alert")).not_to_be_empty()

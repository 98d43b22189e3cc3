"""Who comes in, and who does not."""

from urllib.parse import quote

import pytest
from playwright.async_api import expect

from controller.faults import Language
from controller.messages import Role
from tests.browser.people import PIN, People


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


@pytest.mark.parametrize(
    "wanted", ["/.//127.0.0.2:9/", "//127.0.0.2:9/", "/\\127.0.0.2:9/", "javascript:1"]
)
async def test_who_has_logged_in_is_led_to_this_console_and_nowhere_else(
    people: People, wanted: str
) -> None:
    people.watched.expected |= {401, 404}
    person = await people.comes("Li Na", Role.REFEREE)
    await person.page.context.clear_cookies()
    await person.opens(f"/login?next={quote(wanted)}")
    await person.page.locator("input[name=name]").fill("Li Na")
    await person.page.locator("input[name=pin]").fill(PIN)
    await person.page.locator("#enter").click()
    await person.page.wait_for_url(lambda url: "/login" not in url)
    assert person.page.url.startswith(person.url)

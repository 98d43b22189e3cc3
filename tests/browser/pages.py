"""People before the pages of a table: how they press, answer and read."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

from tests.browser.people import Person
from tests.browser.settled import rests


@dataclass
class AtPage:
    """A person before the page of a table."""

    person: Person

    @property
    def page(self) -> Page:
        """His browser's page."""
        return self.person.page

    def button(self, cmd: str) -> Locator:
        """Return the button of a command among all orders, in the first group that has it."""
        return self.page.locator(f'#groups .order[data-cmd="{cmd}"]').first

    async def opens_groups(self) -> None:
        """Open all groups of orders."""
        await self.page.locator("#groups .group").first.wait_for()
        await self.page.evaluate(
            "for (const one of document.querySelectorAll('#groups details')) one.open = true"
        )

    async def orders(
        self, cmd: str, answer: Callable[[Locator], Awaitable[None]] | None = None
    ) -> None:
        """Press a command's button, answer what it asks, and wait until the table has it."""
        await self.opens_groups()
        await presses(self.button(cmd))
        if answer is not None:
            await self.answers(answer)
        await expect(self.button(cmd)).to_have_attribute("data-fate", "seen")

    async def goes_on(
        self, cmd: str, answer: Callable[[Locator], Awaitable[None]] | None = None
    ) -> None:
        """Press a command's button where the page says what can be done next."""
        await presses(self.page.locator(f'#now .order[data-cmd="{cmd}"]').first)
        if answer is not None:
            await self.answers(answer)

    async def answers(self, answer: Callable[[Locator], Awaitable[None]]) -> None:
        """Answer the question that is open."""
        asked = self.page.locator("dialog[open]")
        await asked.wait_for()
        await answer(asked)
        await asked.locator("button[type=submit]").click()

    async def says(self, part: str, words: str | re.Pattern[str]) -> None:
        """Wait until a part of the page says something."""
        await expect(self.page.locator(f"#{part}")).to_contain_text(words)


async def presses(order: Locator) -> None:
    """Press a command's button, once."""
    button = order.locator("> button").first
    await expect(button).to_be_enabled()
    await rests(order.page)
    await button.click()


async def yes(asked: Locator) -> None:
    """Answer a question that has nothing to fill in."""


def seat(which: str) -> Callable[[Locator], Awaitable[None]]:
    """Answer a question with a seat of the round."""

    async def answer(asked: Locator) -> None:
        await asked.locator(f'.pick-round .seat[data-seat="{which}"]').click()

    return answer


def card(which: str, *, field: int = 0) -> Callable[[Locator], Awaitable[None]]:
    """Answer a question's card, the `field`-th where it asks for several."""

    async def answer(asked: Locator) -> None:
        picked = asked.locator(".card-pick").nth(field)
        for part in (which,) if which in ("BJ", "SJ") else (which[0], which[1:]):
            await picked.locator(f'.card[data-value="{part}"]').click()

    return answer


def choice(words: str) -> Callable[[Locator], Awaitable[None]]:
    """Answer a question with one of its choices."""

    async def answer(asked: Locator) -> None:
        await asked.get_by_text(words, exact=True).click()

    return answer


def places(order: str) -> Callable[[Locator], Awaitable[None]]:
    """Answer a question with seats in turn."""

    async def answer(asked: Locator) -> None:
        for each in order:
            await seat(each)(asked)

    return answer


def because(words: str) -> Callable[[Locator], Awaitable[None]]:
    """Answer a question with a reason."""

    async def answer(asked: Locator) -> None:
        await asked.locator("input[type=text]").first.fill(words)

    return answer


async def before_table(person: Person, table: str) -> AtPage:
    """Let a person open a table's page."""
    await person.opens(f"/table/{table}")
    await expect(person.page.locator("#main")).to_have_attribute("data-standing", "live")
    return AtPage(person)


class AtDesk:
    """A person before the ruling desk of a table."""

    def __init__(self, person: Person, table: str) -> None:
        self.person, self.table = person, table

    @property
    def page(self) -> Page:
        """His browser's page."""
        return self.person.page

    async def opens(self, panel: str) -> None:
        """Open a panel of the desk."""
        await self.person.opens(f"/table/{self.table}/rulings#{panel}")
        await expect(self.page.locator(f"#panel-{panel}")).to_be_visible()

    def order(self, cmd: str, within: Locator | None = None) -> Locator:
        """Return the button of a command that can be seen."""
        place = within or self.page
        return place.locator(f'.order[data-cmd="{cmd}"]').filter(visible=True).first

    async def presses(self, cmd: str, within: Locator | None = None) -> None:
        """Press a command's button."""
        await presses(self.order(cmd, within))

    async def answers(self) -> None:
        """Say yes to the question that is open."""
        asked = self.page.locator("dialog[open]")
        await asked.locator("button[type=submit]").click()
        await expect(asked).to_have_count(0)

    def chips(self, label: str) -> Locator:
        """Return the choices under a label."""
        return self.page.locator(f'#panel-desk .chips[aria-label="{label}"] button')

    @property
    def remedy(self) -> Locator:
        """What the page says of the cards, under a new charge."""
        return self.page.locator(".charge .remedy")

    async def accuses(self, who: str, offence: str, by: str) -> Locator:
        """Say who did what, and who pointed it out; return the ladder's own answer."""
        desk = self.page.locator("#panel-desk .charge")
        who_chips, by_chips = (desk.locator(".chips", has_text=name) for name in (who, by))
        await who_chips.first.get_by_role("button", name=who).first.click()
        await desk.get_by_role("button", name=offence, exact=True).click()
        await by_chips.last.get_by_role("button", name=by).click()
        answer = desk.locator(".answer").first
        await expect(answer).to_be_visible()
        return answer

    async def rules(self, answer: Locator, *, grave: bool = False) -> None:
        """Put an answer in force by one touch, and begin the next charge.

        `grave`: it moves the match, and the page asks once more.
        """
        await self.presses("propose", answer)
        if grave:
            await self.answers()
        second = answer.locator('.order[data-cmd="approve"]')
        await expect(second).to_have_attribute("data-fate", "seen")
        await self.page.locator(".charge header button").click()
        await expect(answer).to_have_count(0)

    async def counts(self, name: str, *sides: str) -> None:
        """Wait until a counter of this deal stands so for both sides."""
        row = self.page.locator("table.counters tr").filter(
            has=self.page.get_by_text(name, exact=True)
        )
        cells = row.locator("td")
        await expect(cells).to_have_count(len(sides))
        for at, count in enumerate(sides):
            of = cells.nth(at).locator(".of").first
            await expect(of).to_contain_text(count)

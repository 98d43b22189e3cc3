"""A page at rest: it has drawn what it was sent, and no question of its is open (settled.mjs)."""

from playwright.async_api import Page

_SETTLED = """(version) => {
  const { settled, asking } = document.documentElement.dataset;
  return !asking && settled !== undefined && Number(settled) >= version;
}"""


async def rests(page: Page, version: int = 0) -> None:
    """Wait until a page has drawn its stream up to `version`, and has no question open."""
    await page.wait_for_function(_SETTLED, arg=version)

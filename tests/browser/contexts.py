"""Browser contexts without time limits of their own: pytest's timeout is the only one."""

from typing import Any

from playwright.async_api import Browser, BrowserContext, expect

NO_LIMIT_MS = 0
DAY_MS = 86_400_000
"""`expect` takes 0 for its default of five seconds."""


async def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Open a context. Its pages wait without a limit."""
    expect.set_options(timeout=DAY_MS)
    context = await browser.new_context(**options)
    context.set_default_timeout(NO_LIMIT_MS)
    return context

"""Browser contexts whose pages have a minute for whatever a test expects of them.

A page that rests answers at once, so the limit decides nothing: it ends a test that fails, and its
failure names what was expected.
"""

from typing import Any

from playwright.async_api import Browser, BrowserContext, expect

LIMIT_MS = 60_000


async def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Open a context."""
    expect.set_options(timeout=LIMIT_MS)
    context = await browser.new_context(**options)
    context.set_default_timeout(LIMIT_MS)
    return context

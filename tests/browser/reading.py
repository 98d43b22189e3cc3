"""What is too small on a page for who reads and touches it, standing at a table."""

from playwright.async_api import Page

TEXT_PX, TOUCH_PX = 14, 44
_SMALL = """
([text, touch]) => {
  const seen = (one) => {
    const { width, height } = one.getBoundingClientRect();
    const look = getComputedStyle(one);
    const off = one.closest("[hidden], .voice, .skip") || look.visibility === "hidden";
    return width > 1 && height > 1 && !off && look.opacity !== "0";
  };
  const called = (one, what) => `${what} ${one.tagName} ${one.className}: ${one.innerText}`;
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode()); ) {
    const one = node.parentElement;
    if (!node.textContent.trim() || one.closest("script, option") || !seen(one)) continue;
    const px = parseFloat(getComputedStyle(one).fontSize);
    if (px < text) found.push(called(one, `${px} px`));
  }
  const typed = "select, textarea, input:not([type=checkbox], [type=radio])";
  const labels = "label.toggle, .switch > label, .choices > label";
  const touched = `button, a[href], summary, ${labels}, ${typed}`;
  for (const one of document.querySelectorAll(touched)) {
    if (getComputedStyle(one).display === "inline") continue; // a link in a line of text
    const covers = getComputedStyle(one, "::after").position === "absolute"; // the row it is in
    const { width, height } = (covers ? one.offsetParent : one).getBoundingClientRect();
    const least = Math.round(Math.min(width, height));
    if (seen(one) && least < touch) found.push(called(one, `${least} px to touch`));
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("wider than its screen");
  return [...new Set(found)];
}
"""


async def too_small(page: Page, text_px: int = TEXT_PX, touch_px: int = TOUCH_PX) -> list[str]:
    """Return what of a page is set smaller, or smaller to touch, than that; or that it is wide."""
    found: list[str] = await page.evaluate(_SMALL, [text_px, touch_px])
    return found

"""What LAB.md states beforehand, made from the code that asks it."""

from collections.abc import Iterator

from controller.trials.lab.family import FAMILY
from controller.trials.lab.report import family_hash

FAMILY_BEGIN, FAMILY_END = (
    "<!-- the family: made from controller/trials/lab/family.py -->",
    "<!-- end -->",
)


def render_family() -> str:
    """Return the family as the lines between BEGIN and END."""
    return "\n".join(_family_lines()) + "\n"


def update_page(page: str) -> str:
    """Return the page with the family as it is now. Raises ValueError where its marks lack."""
    before, found, rest = page.partition(FAMILY_BEGIN)
    _, end, after = rest.partition(FAMILY_END)
    if not (found and end):
        raise ValueError(f"the page has no {FAMILY_BEGIN} or no {FAMILY_END}")
    return f"{before}{FAMILY_BEGIN}\n{render_family()}{FAMILY_END}{after}"


def _family_lines() -> Iterator[str]:
    yield f"{len(FAMILY)} tests; SHA-256 of the list `{family_hash()}`."
    yield ""
    yield "| test | what is counted | in fair deals, and why | for |"
    yield "|---|---|---|---|"
    for one in FAMILY:
        yield f"| `{one.name}` | {one.counted} | {one.expected} | {', '.join(one.shows)} |"

"""What LAB.md states beforehand, made from the code that asks it."""

from collections.abc import Iterator

from controller.trials.lab.family import FAMILY
from controller.trials.lab.report import family_hash

BEGIN, END = "<!-- the family: made from controller/trials/lab/family.py -->", "<!-- end -->"


def stated() -> str:
    """Return the family as the lines between BEGIN and END."""
    return "\n".join(_family_lines()) + "\n"


def written(page: str) -> str:
    """Return the page with the family as it is now. Raises ValueError where its marks lack."""
    before, found, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (found and end):
        raise ValueError(f"the page has no {BEGIN} or no {END}")
    return f"{before}{BEGIN}\n{stated()}{END}{after}"


def _family_lines() -> Iterator[str]:
    yield f"{len(FAMILY)} tests; SHA-256 of the list `{family_hash()}`."
    yield ""
    yield "| test | what is counted | in fair deals, and why | for |"
    yield "|---|---|---|---|"
    for one in FAMILY:
        yield f"| `{one.name}` | {one.counted} | {one.expected} | {', '.join(one.shows)} |"

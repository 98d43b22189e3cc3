"""`python -m tests.pages`: list the pages that are made from the program, and write them again."""

from difflib import get_close_matches

import click

from tests.pages.table import PAGES, Page


@click.group()
def main() -> None:
    """Pages that are made from the program."""


@main.command("list")
def print_names() -> None:
    """Print the name of each page, and the test that checks it."""
    for page in PAGES:
        click.echo(f"{page.name:<52} {page.checked_by or 'tests/pages/test_pages.py'}")


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME…]")
def write(names: tuple[str, ...]) -> None:
    """Write pages again.

    NAME is the path of a page, as `list` prints it. Without a NAME, every page that
    tests/pages/test_pages.py checks is written, which takes a few seconds. The other pages take
    minutes, or come out differently each time: name them.
    """
    for page in [_find(name) for name in names] or [one for one in PAGES if not one.checked_by]:
        before = page.read()
        after = page.write(before)
        changed = page.lasting(after) != page.lasting(before)
        if changed:
            page.path.write_text(after, "utf-8")
        click.echo(f"{page.name}: {'written' if changed else 'unchanged'}")


def _find(name: str) -> Page:
    pages = {page.name: page for page in PAGES}
    if name not in pages:
        close = get_close_matches(name, pages, n=1)
        hint = f"did you mean {close[0]}?" if close else "`python -m tests.pages list` prints them"
        raise click.UsageError(f"there is no page {name}: {hint}")
    return pages[name]


if __name__ == "__main__":
    main(prog_name="python -m tests.pages")

"""`python -m tests.fuzz`: search for inputs that break something, play one again, keep the best.

`.ci/fuzz` is the way in: it sees to the environment.
"""

import re
import subprocess
import sys
from pathlib import Path

import click

from tests.fuzz.targets import CORPUS, HERE, TARGETS, Target, corpus, function

ROOT = HERE.parent.parent
WORK = ROOT / ".fuzz"
_PULSE = re.compile(r"#(\d+)\s+(\w+)\s+.*?cov: (\d+)(?: ft: (\d+))?.*?exec/s: (\d+)")


@click.group()
def main() -> None:
    """Fuzzing, guided by coverage."""


@main.command()
@click.argument("names", nargs=-1, metavar="[TARGET…]")
@click.option("--seconds", default=3600, show_default=True, help="For all of them together.")
@click.option("--seed", default=1, show_default=True)
@click.option("--work", type=click.Path(path_type=Path), default=WORK, show_default=True)
@click.option("--keep/--no-keep", "keeps", default=True, help="Choose the corpus again at the end.")
def explore(names: tuple[str, ...], seconds: int, seed: int, work: Path, keeps: bool) -> None:
    """Search the targets one after the other, all of them by default. Exit 1: something broke."""
    chosen = [_target(name) for name in names or TARGETS]
    shares = sum(target.share for target in chosen)
    work.mkdir(parents=True, exist_ok=True)
    total = found = 0
    for target in chosen:
        part = max(5, round(seconds * target.share / shares))
        ran, broke = _search(target, part, seed, work)
        total, found = total + ran, found + broke
    click.echo(f"{total} runs of {len(chosen)} targets in {seconds} s, {found} finds")
    if keeps:
        for target in chosen:
            _choose(target, work)
    sys.exit(1 if found else 0)


def _search(target: Target, seconds: int, seed: int, work: Path) -> tuple[int, int]:
    """Run one target in a process of its own; return its runs, and how much it found."""
    command = (sys.executable, "-m", "tests.fuzz", "one", target.name)
    options = ("--seconds", str(seconds), "--seed", str(seed), "--work", str(work))
    first = last = None
    ran, finds = 0, []
    shows = sys.stderr.isatty()
    with subprocess.Popen([*command, *options], cwd=ROOT, stderr=subprocess.PIPE, text=True) as one:
        assert one.stderr is not None
        tail: list[str] = []
        for line in one.stderr:
            tail = [*tail[-20:], line]
            if line.startswith("FOUND "):
                finds.append(line)
                click.echo(f"\r{target.name}: {line.strip()}", err=True)
            pulse = _PULSE.match(line)
            if pulse is None:
                continue
            ran, last = int(pulse[1]), f"{pulse[3]} edges, {pulse[4] or 0} features"
            if pulse[2] == "INITED":
                first = last
            if shows:
                click.echo(
                    f"\r{target.name}: {ran} runs, {last}, {pulse[5]}/s   ", nl=False, err=True
                )
    said = f"{target.name}: {ran} runs in {seconds} s; {first} → {last}; {len(finds)} finds"
    died = one.returncode != 0
    if died:
        said += f"; it died or hung ({one.returncode})\n{''.join(tail)}"
    click.echo(("\r" if shows else "") + said)
    if finds or died:
        click.echo(f"  play one again: python -m tests.fuzz replay {work}/found/{target.name}/…")
    return ran, len(finds) + died


@main.command()
@click.argument("name")
@click.option("--seconds", default=60)
@click.option("--seed", default=1)
@click.option("--work", type=click.Path(path_type=Path), default=WORK)
def one(name: str, seconds: int, seed: int, work: Path) -> None:
    """Search one target in this process."""
    from tests.fuzz.explore import explore as search

    search(_target(name), seconds, [CORPUS / name] if corpus(name) else [], work, seed)


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--target", "name", help="Else the name of the file's folder.")
def replay(files: tuple[Path, ...], name: str | None) -> None:
    """Run inputs once more, with whatever they raise."""
    for file in files:
        target = _target(name or file.resolve().parent.name)
        function(target)(file.read_bytes())
        click.echo(f"{file}: {target.name} holds")


@main.command()
@click.argument("names", nargs=-1, metavar="[TARGET…]")
@click.option("--work", type=click.Path(path_type=Path), default=WORK)
def keep(names: tuple[str, ...], work: Path) -> None:
    """Choose again which inputs are kept in the corpus, out of it and of what was found."""
    for name in names or TARGETS:
        _choose(_target(name), work)


def _choose(target: Target, work: Path) -> None:
    from tests.fuzz.keep import keep as choose

    files, size = choose(target, (work / "corpus" / target.name).glob("*"))
    click.echo(f"{target.name}: {files} inputs kept, {size} bytes")


def _target(name: str) -> Target:
    if name not in TARGETS:
        raise click.UsageError(f"no target is called {name}: {', '.join(TARGETS)}")
    return TARGETS[name]


if __name__ == "__main__":
    main()

"""Fuzzing guided by coverage, with atheris: libFuzzer for Python. `.ci/fuzz` starts it.

Where FUZZ_TARGET names a target, this process is libFuzzer for it and takes libFuzzer's options:
`FUZZ_TARGET=decoder .ci/fuzz FILE` runs an input again. libFuzzer starts itself so, too.
"""

import importlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from tests.fuzz.jsonlines import changed, crossed
from tests.fuzz.targets import CORPUS, HERE, TARGETS, Target, corpus, function

ROOT = HERE.parent.parent
FUZZ = ROOT / ".ci" / "fuzz"
WORK = ROOT / ".fuzz"
INPUT_TIMEOUT_S = 25
MAX_CHOSEN = 5
"""So many chosen inputs of a target are kept, beside those whose names people gave."""
_HASHED = re.compile(r"[0-9a-f]{16,40}")


@click.command()
@click.argument("names", nargs=-1, metavar="[TARGET…]")
@click.option("--seconds", default=3600, show_default=True, help="For all of them together.")
@click.option("--seed", default=1, show_default=True)
@click.option("--work", type=click.Path(path_type=Path), default=WORK, show_default=True)
@click.option("--keep/--no-keep", default=True, help="Choose the corpus again at the end.")
def main(names: tuple[str, ...], seconds: int, seed: int, work: Path, keep: bool) -> None:
    """Search the targets one after the other, all by default. Exit 1: something was found."""
    unknown = set(names) - TARGETS.keys()
    if unknown:
        raise click.UsageError(f"no target is called {unknown.pop()}: {', '.join(TARGETS)}")
    chosen = [TARGETS[name] for name in names or TARGETS]
    shares = sum(target.share for target in chosen)
    found = [
        _search(one, max(5, round(seconds * one.share / shares)), seed, work) for one in chosen
    ]
    for target in chosen if keep else ():
        _choose(target, work)
    sys.exit(any(found))


def _search(target: Target, seconds: int, seed: int, work: Path) -> bool:
    """Search one target until its time ends or something is found; return whether it was."""
    inputs, finds = work / "corpus" / target.name, work / "found" / target.name
    for folder in (inputs, finds):
        folder.mkdir(parents=True, exist_ok=True)
    log = work / f"{target.name}.log"
    with log.open("w") as said:
        code = _libfuzzer(
            target,
            f"-max_total_time={seconds}",
            f"-max_len={target.most}",
            f"-timeout={INPUT_TIMEOUT_S}",
            f"-seed={seed}",
            f"-artifact_prefix={finds}/",
            "-rss_limit_mb=2048",
            "-len_control=0" if target.lines else "-len_control=50",
            *_dictionary(target, work),
            inputs,  # receives what covers more
            CORPUS / target.name,
            stderr=said,
        )
    text = log.read_text(errors="replace")
    pulses = re.findall(r"#\d+\s.*cov: .*exec/s: \d+", text)
    click.echo(f"{target.name}: {' '.join(pulses[-1:])}")
    if code:
        click.echo(f"{text[-3000:]}\nFOUND. FUZZ_TARGET={target.name} .ci/fuzz {finds}/…")
    return code != 0


def _dictionary(target: Target, work: Path) -> list[str]:
    """Return the option that names the pieces of a target's inputs, if it has any."""
    if not target.words:
        return []
    path = work / f"{target.name}.dict"
    escaped = ["".join(f"\\x{byte:02x}" for byte in word.encode()) for word in target.words]
    path.write_text("".join(f'"{word}"\n' for word in escaped))
    return [f"-dict={path}"]


def _choose(target: Target, work: Path) -> None:
    """Choose again which inputs are kept: a few that cover all edges that any of them covers."""
    before = corpus(target.name)
    named = [path for path in before if not _HASHED.fullmatch(path.name)]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        for path in named:
            shutil.copy(path, folder)
        merge = ("-set_cover_merge=1", "-use_counters=0", f"-max_len={target.most}")
        _libfuzzer(target, *merge, folder, CORPUS / target.name, work / "corpus" / target.name)
        chosen = [path for path in Path(folder).iterdir() if _HASHED.fullmatch(path.name)]
        for path in set(before) - set(named):
            path.unlink()
        for path in sorted(chosen, key=lambda path: path.stat().st_size)[:MAX_CHOSEN]:
            shutil.copy(path, CORPUS / target.name)
    click.echo(f"{target.name}: {len(corpus(target.name))} inputs are kept")


def _libfuzzer(target: Target, *words: object, stderr: Any = subprocess.DEVNULL) -> int:
    environment = os.environ | {"FUZZ_TARGET": target.name}
    return subprocess.run([FUZZ, *map(str, words)], env=environment, stderr=stderr).returncode


def _run_target(target: Target, words: Iterable[str]) -> None:
    """Be libFuzzer for one target. libFuzzer itself ends the process."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=list(target.packages)):
        run = function(target)
    options = _by_lines(target) if target.lines else {}
    atheris.Setup([str(FUZZ), *words], run, **options)
    atheris.Fuzz()


def _by_lines(target: Target) -> dict[str, Any]:
    def mutate(data: bytes, most: int, seed: int) -> bytes:
        return changed(bytes(data), random.Random(seed), min(most, target.most))

    def cross(data: bytes, other: bytes, most: int, seed: int) -> bytes:
        return crossed(bytes(data), bytes(other), random.Random(seed), min(most, target.most))

    return {"custom_mutator": mutate, "custom_crossover": cross}


if __name__ == "__main__":
    if "FUZZ_TARGET" in os.environ:
        _run_target(TARGETS[os.environ["FUZZ_TARGET"]], sys.argv[1:])
    else:
        main()

"""Bugs put into a copy of the code, each alone, and the campaign that must catch them."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec

from sim.campaign.campaign_lives import FindingKind

ROOT = Path(__file__).parents[2]
PACKAGES = ("controller", "drivers", "sim")
DEALS = 2000
"""Deals within which a campaign catches each of them."""


class Mutation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One bug: what is replaced, and the findings of which one must come."""

    name: str
    file: str
    find: str
    replace: str
    kinds: tuple[FindingKind, ...]


class Caught(msgspec.Struct, frozen=True):
    """How the campaign against a bug ended; `said` is what it wrote beside its report."""

    status: int
    deals: int
    findings: tuple[tuple[str, str], ...]
    said: str


def mutations() -> list[Mutation]:
    """Return all bugs of mutations.toml, in their order."""
    text = Path(__file__).with_name("mutations.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text)["mutation"], list[Mutation])


def mutated(mutation: Mutation) -> str:
    """Return the file's text with the bug; raises ValueError where it fits not exactly once."""
    text = (ROOT / mutation.file).read_text("utf-8")
    found = text.count(mutation.find)
    if found != 1:
        raise ValueError(f"{mutation.name}: what it replaces stands {found} times in its file")
    return text.replace(mutation.find, mutation.replace)


def plant(mutation: Mutation, tree: Path) -> None:
    """Make a copy of the code at `tree`, with one bug in it."""
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tree / package, ignore=ignored)
    (tree / mutation.file).write_text(mutated(mutation), "utf-8")


def campaign_at(tree: Path, *, deals: int = DEALS, seed: int = 1) -> Caught:
    """Run the campaign of the code at `tree` up to its first finding."""
    asked = ["--deals", str(deals), "--faults", "hostile", "--seed", str(seed), "--stop", "--json"]
    ran = subprocess.run(
        [sys.executable, "-m", "controller.cli", "campaign", *asked],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report = msgspec.json.decode(ran.stdout)
    except msgspec.DecodeError:
        return Caught(ran.returncode, 0, (), ran.stderr)
    findings = tuple((each["kind"], each["words"]) for each in report["findings"])
    return Caught(ran.returncode, report["deals"], findings, ran.stderr)

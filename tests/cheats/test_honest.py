"""The control: an honest machine on the same evenings gives no finding."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from sim.virtual_loop import VirtualLoop
from tests.cheats.changed import Evening, said, spend
from tests.cheats.evenings import EVENINGS, THREE_DEALS
from tests.proof.browser import Browser


@pytest.mark.parametrize(
    "evening",
    [
        pytest.param(each, id=each.name, marks=pytest.mark.slow if each is not THREE_DEALS else ())
        for each in EVENINGS
    ],
)
def test_an_honest_machine_gives_no_finding(
    evening: Evening, tmp_path: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the verifier of browsers, whose engine wants no loop around it."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        left = runner.run(spend(evening, {}, tmp_path, runtime_dir, monkeypatch))
    assert (said(left.journal()), said(left.feed())) == ("", "")
    seen = Browser().check([msgspec.to_builtins(event) for event in left.events])
    assert [
        *seen["findings"],
        *(one for each in seen["attempts"] for one in each["findings"]),
    ] == []

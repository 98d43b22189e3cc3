"""A feed's log with holes: no finding, but nobody is told that all of it holds."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from controller.cli.verify import command
from controller.journal.verify import verify
from controller.journal.verify.verify_report import VerifyReport
from controller.messages import PublicEvent
from tests.journal.findings import Write, what
from tests.journal.scripted import ScriptedTable, whole_table


def log_of(events: list[PublicEvent], folder: Path) -> Path:
    path = folder / "events.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, events)))
    return path


def without(events: list[PublicEvent], folder: Path, attempt: int, *kinds: str) -> VerifyReport:
    """Verify what a console kept that missed these steps of an attempt."""
    kept = [one for one in events if one.attempt != attempt or one.kind not in kinds]
    assert len(events) - len(kept) == len(kinds)
    report = verify(log_of(kept, folder))
    assert what(report) == ""
    return report


def test_nothing_is_missing_in_a_log_that_has_all(tmp_path: Path, written: Write) -> None:
    report = verify(log_of(written(whole_table), tmp_path))
    assert [each.missing for each in report.attempts] == [[]] * 5
    assert report.missing_text == ""


@pytest.mark.parametrize(
    "kind", ["cut", "begun", "shuffled", "dealt", "held", "verdict", "released", "revealed"]
)
def test_a_step_of_right_hands_that_is_not_here_is_named(
    tmp_path: Path, written: Write, kind: str
) -> None:
    report = without(written(whole_table), tmp_path, 3, kind)
    standing = report.attempts[2]
    assert standing.missing == [kind]
    assert standing.grade is None
    assert f"no grade: not in this file: {kind}" in str(standing)
    assert report.missing_text == "steps of attempts 3"


@pytest.mark.parametrize("kind", ["cut", "begun", "shuffled", "verdict", "revealed", "record"])
def test_a_step_of_an_attempt_that_was_given_up_is_named(
    tmp_path: Path, written: Write, kind: str
) -> None:
    standing = without(written(whole_table), tmp_path, 2, kind).attempts[1]
    assert standing.missing == [kind]
    assert standing.grade is None


@pytest.mark.parametrize("kind", ["held", "dealt"])
def test_a_step_for_which_the_rows_leave_no_room_is_a_finding(
    tmp_path: Path, written: Write, kind: str
) -> None:
    """The number of the row that was it is another's."""
    events = written(whole_table)
    rows = [
        msgspec.structs.replace(one, kind="begun" if one.kind == kind else one.kind)
        for one in events
        if one.attempt == 1
    ]
    assert f"attempt 1 is right without {kind}" in what(verify(log_of(rows, tmp_path)))


def test_a_reason_whose_record_is_not_here_is_not_said_to_be_unprovable(
    tmp_path: Path, written: Write
) -> None:
    standing = without(written(whole_table), tmp_path, 2, "record").attempts[1]
    assert "no record shows it" not in str(standing)


def test_what_an_attempt_may_still_become_is_not_missing(tmp_path: Path, written: Write) -> None:
    def dealing(table: ScriptedTable) -> None:
        table.play()
        table.commit()

    report = verify(log_of(written(dealing), tmp_path))
    assert [each.missing for each in report.attempts] == [[], []]


def test_an_attempt_that_ended_before_its_cut_has_no_later_step(
    tmp_path: Path, written: Write
) -> None:
    def early(table: ScriptedTable) -> None:
        table.take_cut = lambda cut: None  # type: ignore[method-assign]
        step = table.step
        table.step = lambda kind, **data: (  # type: ignore[method-assign]
            None if kind in ("begun", "shuffled") else step(kind, **data)
        )
        table.commit(None)
        table.first = []
        table.give_up([], "LID_OPENED", dict.fromkeys("NWSE", 0), "void")

    assert verify(log_of(written(early), tmp_path)).attempts[0].missing == []


def test_attempts_between_others_are_named(tmp_path: Path, written: Write) -> None:
    events = [one for one in written(whole_table) if one.attempt not in (2, 4)]
    path = log_of(events, tmp_path)
    assert verify(path).missing == [2, 4]
    told = CliRunner().invoke(command, [str(path)])
    assert told.exit_code == 0
    assert "what is here holds; not in this file: attempts 2, 4" in told.output
    assert "all holds" not in told.output


def test_an_event_that_looks_like_a_state_is_an_event(tmp_path: Path, written: Write) -> None:
    path = log_of(written(whole_table), tmp_path)
    lines = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    seen = next(line for line in lines if line["kind"] == "revealed")
    seen["data"]["seed"], seen["machine"] = "00" * 32, {}
    path.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    assert "its head does not follow from its text" in what(verify(path))

"""Whether a record that was opened has all that such a record has.

A record that says less than the machine always writes opens nothing, and must not pass for one:
without the boards' events no reason can be disproved, and no hand be compared with what was read.
"""

from collections.abc import Iterator

from controller.journal.fold import AttemptHistory
from controller.journal.verify.findings import VerifyFinding


def check_record_fields(progress: AttemptHistory) -> Iterator[VerifyFinding]:
    """Yield a record without events or key; of hands that were right, without nonce or faces."""
    record = progress.steps.get("record")
    if record is None:
        return
    verdict = progress.data("verdict") or {}
    held = "held" in progress.steps or verdict.get("outcome") == "ok"
    due = {"events": list, "key": str} | ({"nonce": str, "hands": str} if held else {})
    lacks = [name for name, form in due.items() if not isinstance(record.data.get(name), form)]
    # A record of right hands is that of cards that were fed: the boards told of them.
    hollow = [name for name in ("events", "hands") if held and not record.data.get(name)]
    missing = list(dict.fromkeys([*lacks, *hollow]))
    if missing:
        what = f"the record of attempt {progress.attempt} lacks {', '.join(missing)}"
        yield VerifyFinding(record.n, what, "it opens nothing that anybody could check")

"""The check of one attempt. It also opens the sealed data if the key is published.

The record of the attempt has the key that opens the sealed data. With that key, the record is
compared with the entries that were written while the cards moved, including looks and pockets.
Without the key, those entries prove little.
"""

import base64
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

import controller.journal.verify.attempt_proof as proof
from controller.cards import composition
from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.packed_board_events import (
    AT_READER,
    POCKET_CODES,
    READ,
    SEALED_PLACE,
    LoggedBoardEvent,
    unpack_events,
    unpack_opened,
)
from controller.journal.verify.attempt_steps import check_attempt_end, check_record_fields
from controller.journal.verify.card_course import MOTION_CODES, CardCourse, trace_course
from controller.journal.verify.reason_checks import (
    ReasonCheck,
    RecordEvidence,
    back_number,
    check_reasons,
)
from controller.journal.verify.verify_report import (
    AttemptReport,
    CommitmentContext,
    Findings,
    Grade,
    VerifyFinding,
    catch_malformed,
)
from controller.rules.profile_files import ProfilesByHash

Unseal = Callable[[bytes], bytes]
_BOX_MEANS = "the data sealed while the cards moved differ from the data shown now"


def box_opener(progress: AttemptHistory) -> Unseal | None:
    """Return a function that decrypts the attempt's sealed data, or None if no key is published.

    Raises UnprovableError if the published key has a wrong form.
    """
    record = progress.steps.get("record")
    if record is None or record.data.get("key") is None:
        return None
    box, n = SecretBox(proof.hex_field(progress, "record", "key")), record.n

    def unseal(sealed: bytes) -> bytes:
        try:
            return box.decrypt(sealed)
        except (CryptoError, ValueError):
            what = "the key of the record does not open the sealed data"
            raise proof.UnprovableError(n, what) from None

    return unseal


def check_boxes(progress: AttemptHistory, unseal: Unseal | None) -> Findings:
    """Yield a finding if the sealed seed or hands differ from the published seed or hands.

    A record without its key is a finding too if rows of the journal are sealed. Raises
    UnprovableError if the published key does not open a box.
    """
    record, seed, box = (progress.steps.get(kind) for kind in ("record", "seed", "hands_box"))
    if record is None:
        return
    if unseal is None:
        sealed = any("sealed" in entry.data for entry in progress.wire_entries)
        if sealed and "events" in record.data:
            what = "the record has no key, and the journal has sealed rows"
            yield VerifyFinding(record.n, what, "the two cannot be compared")
        return
    revealed = "revealed" in progress.steps
    shown_seed = proof.hex_field(progress, "revealed", "seed") if revealed else None
    shown_hands = None
    if proof.has_open_hands(progress):
        shown_hands = proof.hex_field(progress, "record", "nonce")
        shown_hands += proof.hex_field(progress, "record", "hands", None)
    for entry, shown in ((seed, shown_seed), (box, shown_hands)):
        if entry is not None and shown is not None and unseal(_box_bytes(entry)) != shown:
            what = f"the sealed {entry.kind} differs from the published one"
            yield VerifyFinding(entry.n, what, _BOX_MEANS)
    for entry in progress.wire_entries:
        if "sealed" in entry.data:
            unseal(_box_bytes(entry, "sealed"))


def _box_bytes(entry: JournalEntry, field: str = "box") -> bytes:
    try:
        return base64.b64decode(entry.data[field], validate=True)
    except (KeyError, TypeError, ValueError):
        raise proof.UnprovableError(entry.n, f"{entry.kind} has no box") from None


_MADE_UP_REASON_MEANS = "a reason was made up, or the record is not the one of this attempt"


class _ComputedParts(msgspec.Struct):
    """The values that the check of an attempt computes. Before that, they are None or empty."""

    grade: Grade | None = None
    course: CardCourse | None = None
    expected_sequence: str | None = None
    evidence: RecordEvidence | None = None
    reason_checks: list[ReasonCheck] = []
    unknown_rules: str | None = None
    context: CommitmentContext | None = None


def check_attempt(
    progress: AttemptHistory, rulebooks: ProfilesByHash, missing: Sequence[str] = ()
) -> AttemptReport:
    """Check the entries of one attempt, and return its report, which has all findings.

    `missing` has the steps that the attempt must have taken but that have no entry in this file.
    """
    found = _ComputedParts()
    n, what = next(iter(progress.steps.values())).n, f"an entry of attempt {progress.attempt}"
    checks = (check_attempt_end(progress), check_record_fields(progress))
    findings = [finding for check in checks for finding in catch_malformed(check, n, what)]
    try:
        for finding in catch_malformed(_compute_parts(progress, rulebooks, found), n, what):
            findings.append(finding)
    except proof.UnprovableError as error:
        findings.append(VerifyFinding(error.n, str(error), "this attempt cannot be proved"))
    return _build_report(progress, found, findings, missing)


def _compute_parts(
    progress: AttemptHistory, rulebooks: ProfilesByHash, found: _ComputedParts
) -> Findings:
    """Run the checks of the attempt, store the computed values in `found`, and yield findings."""
    steps = set(progress.steps)
    if "committed" in steps:
        found.context = proof.commitment_context_of(progress)
        found.course = yield from _check_course(progress)
    if {"committed", "revealed", "verdict"} <= steps:
        yield from proof.check_commitment(progress, rulebooks)
        found.unknown_rules = proof.unknown_rules(progress, rulebooks)
        found.expected_sequence = proof.compute_sequence(progress)
        found.grade = "sequence"
        profile = rulebooks.find(proof.hex_field(progress, "committed", "profile_hash"))
        yield from proof.check_leader(progress, found.expected_sequence, profile)
        if found.course is not None:
            yield from proof.check_gates(progress, found.course, found.expected_sequence)
            yield from proof.check_strays(progress, found.course)
        found.evidence = _record_evidence(progress, found.course, found.expected_sequence)
        if found.evidence is not None:
            yield from proof.check_looks(progress, found.evidence)
    if "verdict" in steps:
        found.reason_checks = check_reasons(_end_reasons(progress), found.evidence)
        yield from proof.check_counts(progress, found.course, found.expected_sequence)
        end = _end_step(progress)
        for each in found.reason_checks:
            if each.says == "disproved":
                what = f"{each.reason} does not follow from the opened record"
                yield VerifyFinding(end.n, what, _MADE_UP_REASON_MEANS)
    if {"committed", "verdict"} <= steps and proof.has_open_hands(progress):
        yield from proof.check_hands(progress, found.evidence)
        found.grade = "hands" if found.evidence is not None else found.grade


def _record_evidence(
    progress: AttemptHistory, course: CardCourse | None, expected_sequence: str
) -> RecordEvidence | None:
    """Return the attempt's record as evidence, or None if its events or `course` are missing."""
    record = progress.steps.get("record")
    if record is None or course is None or "events" not in record.data:
        return None
    packs, jokers, _ = proof.deck_of(progress)
    return RecordEvidence(
        course=course,
        sequence=expected_sequence,
        composition=composition(packs, jokers),
        back=back_number(proof.text_field(progress, "committed", "back")),
        last_sensors=record.data.get("settled") or {},
        last_look_lost=record.boot != progress.steps["verdict"].boot,
        is_withdrawn="withdrawn" in progress.steps,
    )


def _check_course(progress: AttemptHistory) -> Generator[VerifyFinding, None, CardCourse | None]:
    """Compare the copies of the attempt's board events, yield findings, and return the CardCourse.

    Return None if no copy shows all cards' ways. The copies are in the published `record`, in
    the `course` of `revealed`, and in the `wire` entries. If several of them exist, they must
    agree: `record` with `revealed`, and both with the `wire` entries. The `wire` entries show the
    outlets (pockets or tray) of cards only if they can be decrypted.
    """
    told, unseal = list(_published_events(progress)), box_opener(progress)
    try:
        yield from check_boxes(progress, unseal)
    except proof.UnprovableError as error:
        means = "the key belongs to another attempt, or rows were changed"
        yield VerifyFinding(error.n, str(error), means)
        unseal = None
    for entry, events in told:
        rows = _logged_events(progress, entry, unseal) if "seed" in progress.steps else None
        for where, whole in (("the journal", rows), (told[0][0].kind, told[0][1])):
            if whole is not None and not _is_prefix_without_motion(whole, events):
                what = f"{entry.kind} has other board events than {where}"
                yield VerifyFinding(entry.n, what, "the record was not shown as it was")
                break
    if told:
        return trace_course(told[0][1], proof.deck_of(progress)[2])
    steps = set(progress.steps)
    if {"released", "revealed"} <= steps and "recalled" not in steps:
        what = f"attempt {progress.attempt} is revealed without the course of its cards"
        yield VerifyFinding(progress.steps["revealed"].n, what, "their outlets cannot be checked")
    verdict = progress.steps.get("verdict")
    events = _logged_events(progress, verdict)
    if verdict is not None and events and verdict.data["outcome"] == "ok":
        count = len({event.index for event in events if event.code == AT_READER})
        if verdict.data["fed"] + verdict.data["refed"] != count:
            counted = f"fed {verdict.data['fed']} and refed {verdict.data['refed']}"
            what = f"the verdict has {counted}, the boards' events have {count} arrivals"
            means = "the counts were not taken from the boards' events"
            yield VerifyFinding(verdict.n, what, means)
    in_full = all(event.is_open for event in events if event.code != READ)
    return trace_course(events, proof.deck_of(progress)[2]) if events and in_full else None


def _published_events(
    progress: AttemptHistory,
) -> Iterator[tuple[JournalEntry, list[LoggedBoardEvent]]]:
    """Yield each public entry of the attempt that has board events, with these events.

    The `record` comes before `revealed`, because it is more complete.
    """
    for kind, field in (("record", "events"), ("revealed", "course")):
        step = progress.steps.get(kind)
        if step is not None and field in step.data:
            yield step, unpack_opened(step.data[field], progress.attempt)


def _logged_events(
    progress: AttemptHistory, before: JournalEntry | None, unseal: Unseal | None = None
) -> list[LoggedBoardEvent]:
    """Return the board events in those `wire` entries of the attempt that precede `before`.

    With None, all `wire` entries count. Looks and pockets stay sealed without `unseal`.
    """
    groups = [entry for entry in progress.wire_entries if before is None or entry.n < before.n]
    return [event for entry in groups for event in unpack_events(entry.data, entry.attempt, unseal)]


def _is_prefix_without_motion(
    whole: Sequence[LoggedBoardEvent], events: Sequence[LoggedBoardEvent]
) -> bool:
    """Return whether `whole` is `events` followed only by events that move no card."""
    rest = whole[len(events) :]
    return (
        len(events) <= len(whole)
        and all(map(_is_same_event, events, whole))
        and not any(event.code in MOTION_CODES for event in rest)
    )


def _is_same_event(one: LoggedBoardEvent, other: LoggedBoardEvent) -> bool:
    """Return whether two copies of a board event agree in all data that is open in both copies.

    A look or pocket that is sealed in one copy is equal to any value in the other copy.
    """
    if one == other:
        return True
    looks = one.look is None or other.look is None or one.look == other.look
    shut = one.code in POCKET_CODES and SEALED_PLACE in (one.place, other.place)
    return looks and _without_secrets(one, shut) == _without_secrets(other, shut)


def _without_secrets(event: LoggedBoardEvent, shut: bool) -> LoggedBoardEvent:
    """Return a copy of the event without its look and, if `shut`, also without its pocket."""
    return msgspec.structs.replace(event, look=None, place=SEALED_PLACE if shut else event.place)


def _end_step(progress: AttemptHistory) -> JournalEntry:
    """Return the entry that ended the attempt: `withdrawn`, else `recalled`, else `verdict`."""
    steps = progress.steps
    return steps.get("withdrawn") or steps.get("recalled") or steps["verdict"]


def _end_reasons(progress: AttemptHistory) -> list[str]:
    """Return the reasons in the entry that ended the attempt.

    Raises UnprovableError if this entry has no list of texts as its reasons.
    """
    end = _end_step(progress)
    said = end.data.get("reasons")
    if isinstance(said, list) and all(isinstance(reason, str) for reason in said):
        return list(said)
    raise proof.UnprovableError(end.n, f"{end.kind} has no list of reasons")


def _build_report(
    progress: AttemptHistory,
    found: _ComputedParts,
    findings: list[VerifyFinding],
    missing: Sequence[str],
) -> AttemptReport:
    cut = progress.data("cut") or progress.data("revealed")
    number = None if cut is None else cut.get("cut")
    return AttemptReport(
        attempt=progress.attempt,
        deal=progress.deal,
        outcome=_text_or_none(progress.data("verdict"), "outcome"),
        withdrawn="withdrawn" in progress.steps,
        reasons=[each.reason for each in found.reason_checks],
        verdicts=found.reason_checks,
        uncut=cut is not None and number is None,
        grade=None if missing else found.grade,
        gates=found.course is not None,
        context=found.context,
        commitment=_text_or_none(progress.data("committed"), "commitment"),
        seed=_text_or_none(progress.data("revealed"), "seed"),
        cut=number if type(number) is int else None,
        sequence=found.expected_sequence,
        hands=_text_or_none(progress.data("held"), "hands"),
        missing=list(missing),
        turned_away=0 if found.evidence is None else found.evidence.count_turned_away(),
        unknown_rules=found.unknown_rules,
        recalled="recalled" in progress.steps,
        sealed="sealed_to_chief" in progress.steps,
        findings=findings,
    )


def _text_or_none(data: Mapping[str, Any] | None, name: str) -> str | None:
    value = None if data is None else data.get(name)
    return value if isinstance(value, str) else None

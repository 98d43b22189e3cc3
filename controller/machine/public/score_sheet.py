"""The complete score sheet (记分表) of a match, for the command `sheet` and for print.

By the rulebook the sheet is the evidence of the result (seed 000 A13.1). All its content follows
from the rows of the match and from its moves between tables. A signed version stays readable when a
later version replaces it.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from controller.machine.public.public_results import (
    copied_fields,
    public_pairs,
    public_score,
    public_verdict,
    rulings_in_words,
)
from controller.machine.public.score_sheet_rows import (
    big_two_lines,
    corrections,
    deal_lines,
    level_texts,
    sheet_notes,
)
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch, SheetSignature
from controller.match.phase import ENDED_PHASES, MatchPhase
from controller.match.sheet_rows import EndRow
from controller.match.sheet_writing import sheet_signers
from controller.match.transfer_document import TableMove
from controller.rules.profile import Profile
from controller.rules.regulations_page import profile_hash
from controller.sheet.form import ScoreSheet, SheetRules, SheetVersion, SignatureLine


def sheet_data(
    match: AnyMatch,
    *,
    table: str,
    head: str,
    rules_hash: str | None = None,
    moves: Sequence[TableMove] = (),
) -> dict[str, Any]:
    """Return the whole score sheet as an object for JSON.

    `table` is the table's id, `head` the head of its journal in hex. `rules_hash` is the profile's
    hash in hex. With None the hash is computed, which takes 25 ms. `moves` are all moves of the
    match until it came to this table. The sheet has no wall-clock times of start and end.
    """
    meeting, watch = match.meeting, match.clock.watch
    is_signed = match.phase is MatchPhase.SIGNED
    there = {one.signer: one for one in match.signatures}
    page = ScoreSheet(
        game="guandan" if isinstance(match, GuandanMatch) else "bigtwo",
        table=table,
        match=meeting.match_id,
        **copied_fields(meeting, "event", "round", "match_no", "table_no", "stage"),
        rules=_rules(match.profile, rules_hash),
        pairs=public_pairs(meeting),
        start_ms=None if watch is None else watch.starts_ms,
        end_ms=_end_ms(match),
        state="signed" if is_signed else "over" if match.phase in ENDED_PHASES else "open",
        verdict=None if match.verdict is None else public_verdict(match.verdict),
        rulings=rulings_in_words(match.rulings),
        signatures=[_signature_line(match, each, there.get(each)) for each in sheet_signers(match)],
        version=match.version,
        versions=_versions(match),
        head=head,
        notes=sheet_notes(match, moves),
        **_game_fields(match),
    )
    return dict(msgspec.to_builtins(page))


def _game_fields(match: AnyMatch) -> dict[str, Any]:
    if isinstance(match, BigTwoMatch):
        return {"hands": big_two_lines(match.rows), "totals": match.totals}
    assert isinstance(match, GuandanMatch)  # there are two kinds
    return {
        "deals": deal_lines(match),
        "corrections": corrections(match),
        "levels": level_texts(match.standing.levels),
        "score": None if match.score is None else public_score(match.score),
    }


def _rules(profile: Profile, known: str | None) -> SheetRules:
    event = profile.event
    return SheetRules(
        **copied_fields(profile, "name", "title_en", "title_zh"),
        event_en=None if event is None else event.title_en,
        event_zh=None if event is None else event.title_zh,
        hash=known or profile_hash(profile).hex(),
    )


def _end_ms(match: AnyMatch) -> int | None:
    """Return the time of the match's latest end, or None if the match has not ended."""
    if match.phase not in ENDED_PHASES:
        return None
    if isinstance(match, BigTwoMatch):
        return match.rows[-1].at_ms
    assert isinstance(match, GuandanMatch)  # there are two kinds
    return max(row.at_ms for row in match.sheet if isinstance(row, EndRow))


def _signature_line(match: AnyMatch, signer: str, by: SheetSignature | None) -> SignatureLine:
    roles = match.profile.roles if isinstance(match, GuandanMatch) else None
    keeps: dict[str, str] = (
        {} if roles is None else {roles.checker: "checker", roles.scorer: "scorer"}
    )
    duty: Any = None if signer == "referee" else keeps.get(signer)
    if by is None:
        return SignatureLine(signer=signer, duty=duty)
    return SignatureLine(signer=signer, duty=duty, person=by.person, at_ms=by.at_ms)


def _versions(match: AnyMatch) -> list[SheetVersion]:
    """Return every version of the sheet with its signatures, the present version last."""
    versions = [(old.version, old.rows, old.signatures) for old in match.replaced]
    versions.append((match.version, count_rows(match), match.signatures))
    return [
        SheetVersion(version=version, rows=rows, signatures=lines)
        for version, rows, signed in versions
        for lines in [[_signature_line(match, one.signer, one) for one in signed]]
    ]


def count_rows(match: AnyMatch) -> int:
    """Return the number of rows on the present version of a match's score sheet."""
    if isinstance(match, BigTwoMatch):
        return len(match.rows)
    return len(match.sheet) if isinstance(match, GuandanMatch) else 0

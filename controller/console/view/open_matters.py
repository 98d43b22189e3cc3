"""What is open at the tables: rulings that wait for the chief's word, and finished sheets to sign.

No state says since when; who asks remembers it by a matter's name (`open_matters`).
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from controller.console.seen import TableSnapshot
from controller.console.view.areas import is_over
from controller.messages import PublicMatch, PublicRuling, PublicState, VerbalCorrection
from controller.signer_names import decided_by_words
from controller.words import Words

FirstSeen = Mapping[str, int]
"""When an open matter was first seen (milliseconds since 1970, console's clock), by its name."""


class PendingApproval(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A ruling that waits for the chief: to be decided, or (`verbal`) to be stood by.

    `by`: who proposed it; of what he said by word, himself and who entered it.
    `since_ms`: since when, as far as it is known; None where the console has not seen it begin.
    """

    table: str
    ruling: PublicRuling
    verbal: bool
    by: Words
    since_ms: int | None = None


class UnconfirmedCorrection(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A correction by the chief's word that he has to stand by, and since when it is known.

    `by`: himself, and who entered it.
    """

    table: str
    correction: VerbalCorrection
    by: Words
    since_ms: int | None = None


class UnsignedSheet(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A finished sheet that is not signed by all: by how many it is, and who is missing."""

    table: str
    signed: int
    signers: tuple[str, ...]
    since_ms: int | None = None


def open_matter_names(table: str, state: PublicState) -> Iterator[str]:
    """Yield the names of what is open at a table, by which it is remembered since when."""
    match = state.match
    for ruling in match.rulings:
        if _needs_chief(ruling):
            yield _ruling_name(table, match, ruling)
    for word in match.spoken:
        yield _correction_name(table, match, word)
    if is_over(state) and match.signers:
        yield _sheet_name(table, match)


def list_approvals(
    table: str, state: PublicState, first_seen: FirstSeen
) -> Iterator[PendingApproval]:
    """Yield a table's rulings that wait for the chief."""
    for ruling in state.match.rulings:
        if _needs_chief(ruling):
            yield PendingApproval(
                table=table,
                ruling=ruling,
                verbal=_is_unconfirmed_word(ruling),
                by=_author_words(ruling),
                since_ms=first_seen.get(_ruling_name(table, state.match, ruling)),
            )


def list_unconfirmed_corrections(
    table: str, state: PublicState, first_seen: FirstSeen
) -> Iterator[UnconfirmedCorrection]:
    """Yield a table's corrections by word that wait for the chief."""
    for word in state.match.spoken:
        name = _correction_name(table, state.match, word)
        by = decided_by_words(word.by, word.entered_by)
        yield UnconfirmedCorrection(
            table=table, correction=word, by=by, since_ms=first_seen.get(name)
        )


def list_unsigned_sheets(
    known: Iterable[tuple[TableSnapshot, PublicState]], first_seen: FirstSeen
) -> Iterator[UnsignedSheet]:
    """Yield the finished sheets that somebody has still to sign."""
    for one, state in known:
        match = state.match
        if is_over(state) and match.signers:
            yield UnsignedSheet(
                table=one.table,
                signed=len(match.signed),
                signers=tuple(match.signers),
                since_ms=first_seen.get(_sheet_name(one.table, match)),
            )


def _needs_chief(ruling: PublicRuling) -> bool:
    """Tell whether a ruling waits for the chief: to be decided, or to be stood by."""
    proposed = ruling.state == "proposed" and ruling.needs == "chief"
    return proposed or _is_unconfirmed_word(ruling)


def _is_unconfirmed_word(ruling: PublicRuling) -> bool:
    return ruling.state == "decided" and ruling.verbal and ruling.confirmed_by is None


def _author_words(ruling: PublicRuling) -> Words:
    if _is_unconfirmed_word(ruling):
        return decided_by_words(ruling.approved_by, ruling.entered_by)
    return decided_by_words(ruling.by)


def _ruling_name(table: str, match: PublicMatch, ruling: PublicRuling) -> str:
    return f"{table} {match.match} {ruling.id} {ruling.state}"


def _correction_name(table: str, match: PublicMatch, word: VerbalCorrection) -> str:
    return f"{table} {match.match} correction {word.row}"


def _sheet_name(table: str, match: PublicMatch) -> str:
    return f"{table} {match.match} unsigned {match.version}"

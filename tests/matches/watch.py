"""What a feed may never tell, and that its states always name somebody who can go on."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from controller.messages import MachinePhase, PublicEvent, PublicMatch, PublicState
from controller.rules.profile import BigTwoProfile, Profile

_FACE = re.compile(r"[♠♥♣♦](?:10|[2-9JQKA])|\b[BS]J\b")
_MACHINE_WORKS = frozenset({MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING})


def leaks(
    profile: Profile, states: Sequence[PublicState], events: Sequence[PublicEvent]
) -> list[str]:
    """Return every face, card or answer that was told, or told too early."""
    found = [f"state {state.seq}: {what}" for state in states for what in _of_state(state)]
    return found + list(_of_events(profile, events)) + list(_of_records(profile, states, events))


def standstills(states: Sequence[PublicState]) -> list[str]:
    """Return every state that names nobody who can act, while the machine does not either."""
    return [
        f"state {state.seq}: {state.match.phase} {state.match.next_en}"
        for state in states
        if state.match.match is not None and not _goes_on(state)
    ]


def _of_state(state: PublicState) -> Iterator[str]:
    told = msgspec.to_builtins(state)
    told["match"] |= {"turned_up": None, "tribute": None, "next_en": "", "next_zh": ""}
    if faces := _FACE.findall(msgspec.json.encode(told).decode()):
        yield f"faces {faces}"
    words = state.match.next_en.replace(state.match.turned_up or "?", "")
    if faces := _FACE.findall(words):
        yield f"faces {faces} in {state.match.next_en}"
    yield from _of_tribute(state.match)
    choices = state.match.choices
    if choices is not None and choices.asked == "open_hand" and choices.opened:
        yield "open hands before all have chosen"


def _of_tribute(match: PublicMatch) -> Iterator[str]:
    tribute = match.tribute
    if tribute is None:
        return
    if set(tribute.laid) != set(tribute.payers) and (tribute.required or tribute.payments):
        yield "a tribute before all were laid"
    cards = [one.card for one in tribute.returns if one.card is not None]
    if cards and tribute.returns_shown == "secret":
        yield "a secret return"
    if cards and tribute.returns_shown == "together" and len(tribute.given) < len(tribute.returns):
        yield "one return before the other"


def _of_events(profile: Profile, events: Sequence[PublicEvent]) -> Iterator[str]:
    laid: set[Any] = set()
    keys: dict[str, str] = {}
    for event in events:
        if event.kind == "released":
            laid = set()
        if event.kind in ("released", "record"):  # a card may be turned up; see _of_records
            continue
        told = event.data
        if event.kind == "committed":  # forty random signs, which spell a joker now and then
            told = told | {"table_key": ""}
            if event.data["table_key"] != keys.setdefault(event.table, event.data["table_key"]):
                yield f"event {event.n}: a key of its own for a deal"
        if faces := _FACE.findall(msgspec.json.encode(told).decode()):
            yield f"event {event.n} ({event.kind}): faces {faces}"
        happened = event.data["event"] if event.kind == "match" else None
        if happened == "TributeLaid":
            laid.add(event.data["seat"])
        if happened == "TributeValued" and set(event.data["values"]) - laid:
            yield f"event {event.n}: a tribute before it was laid"
        if happened == "ReturnLaid" and event.data.get("value") is not None:
            yield from _of_return(profile, event)
    for attempt in {event.attempt for event in events}:
        yield from _of_answers([event for event in events if event.attempt == attempt])


def _of_records(
    profile: Profile, states: Sequence[PublicState], events: Sequence[PublicEvent]
) -> Iterator[str]:
    """Yield hands of deals that were played and are shown before the profile says."""
    given_up = {event.attempt for event in events if _gives_up(event)}
    dealt_for = {e.attempt: e.data["match"] for e in events if e.kind == "committed"}
    matches = {event.data["match"] for event in events if event.kind == "meeting"}
    revealed: set[int | None] = set()
    for event in events:
        if event.kind == "revealed":
            revealed.add(event.attempt)
        if event.kind != "record" or event.attempt in given_up:
            continue
        match = dealt_for.get(event.attempt)
        at_end = match not in matches or profile.hands_opened == "deal_end"
        shown = profile.hands_opened != "never" and event.attempt in revealed
        if not shown or not (at_end or _is_over(states, event, match)):
            yield f"event {event.n}: hands of a deal that was played"


def _is_over(states: Sequence[PublicState], event: PublicEvent, match: str | None) -> bool:
    # A state of the same moment may be the one before what the event followed from.
    after = next((state for state in states if state.time > event.time), states[-1])
    return after.match.match != match or after.match.phase in ("over", "signed")


def _gives_up(event: PublicEvent) -> bool:
    """Tell whether the hands of an attempt will not be played, or not to their end."""
    failed = event.kind == "verdict" and event.data["outcome"] != "ok"
    return failed or event.kind in ("withdrawn", "recalled")


def _of_return(profile: Profile, event: PublicEvent) -> Iterator[str]:
    assert not isinstance(profile, BigTwoProfile)
    rules: Any = profile
    if "secret" in (rules.tribute.returns_single, rules.tribute.returns_double):
        yield f"event {event.n}: a secret return"


def _of_answers(events: Sequence[PublicEvent]) -> Iterator[str]:
    """Of four answers about open hands only the last may come by itself."""
    answers = [event for event in events if event.data.get("event") == "Answered"]
    told = [event for event in events if event.kind == "match_told"]
    if answers and told and answers[0].n > told[0].n:
        yield f"event {told[0].n}: answers before all had chosen"
    if answers and not told:
        yield f"event {answers[0].n}: an answer before all had chosen"


def _goes_on(state: PublicState) -> bool:
    match, machine = state.match, state.machine
    area = match.clock is not None and match.started and not match.clock.running
    return bool(
        match.waiting_for
        or match.signers
        or match.suspended
        or area
        or state.calls
        or machine.phase in _MACHINE_WORKS
        or match.phase in ("signed", "anti_check", "dealing")
        or _is_compared(match)
        or (match.phase == "held" and machine.phase in (MachinePhase.HELD, MachinePhase.RELEASED))
        or (match.phase == "setup" and len(match.seated) == 4)
        or (match.phase == "play" and (match.led or match.leader))
    )


def _is_compared(match: PublicMatch) -> bool:
    """Tell whether all payers have laid of hands that the machine knows: it compares by itself."""
    tribute = match.tribute
    laid = tribute is not None and set(tribute.laid) == set(tribute.payers)
    return match.phase == "tribute" and laid and not match.by_hand

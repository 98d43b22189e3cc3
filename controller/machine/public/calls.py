"""Who waits for a referee, from red buttons and from the match, and why in words."""

from controller.match.needs import REFEREE_CALL_WORDS
from controller.messages import RefereeCall
from controller.words import Words

_BUTTON_WORDS = Words("the referee is called", "召请裁判")


def public_calls(
    pressed: tuple[RefereeCall, ...], needs: tuple[RefereeCall, ...]
) -> list[RefereeCall]:
    """Return everybody who waits for a referee, longest first, and why in words.

    `pressed`: red buttons. `needs`: what the match needs somebody for.
    """
    calls = sorted((*pressed, *needs), key=lambda call: call.since)
    return [_call_with_words(call) for call in calls]


def _call_with_words(call: RefereeCall) -> RefereeCall:
    own = _BUTTON_WORDS if call.reason == "button" else Words(call.reason, call.reason)
    said = REFEREE_CALL_WORDS.get(call.reason, own)
    return RefereeCall(
        seat=call.seat,
        reason=call.reason,
        since=call.since,
        words_en=said.en,
        words_zh=said.zh,
    )

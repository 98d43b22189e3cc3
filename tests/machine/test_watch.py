"""What watches a feed for faces finds them, and takes no random key for one."""

import pytest

from controller.messages import PublicEvent
from controller.rules.profile_files import load_profile
from tests.console.fake import an_event
from tests.matches.watch import leaks

KEY = "ngC:(NbLREe<aJ{z:PrEw.vtt8+=BJ<ydr$q/uw/"  # of a table: forty signs of Z85


def found(*events: PublicEvent) -> list[str]:
    """Return what is found in a feed of these events."""
    return leaks(load_profile("international-000"), (), events)


def committed(n: int, **data: str) -> PublicEvent:
    return an_event("T01", n, "committed", {"match": "M1", "table_key": KEY} | data)


def test_a_tables_key_may_spell_a_joker() -> None:
    assert found(committed(16), committed(68)) == []


@pytest.mark.parametrize("face", ["BJ", "SJ", "♥10"])
def test_a_face_beside_the_key_is_found(face: str) -> None:
    assert found(committed(16, set=f"S1 {face}")) == [f"event 16 (committed): faces ['{face}']"]


def test_a_key_that_changes_with_the_deal_is_found() -> None:
    other = KEY.replace("BJ", "SJ")
    assert found(committed(16), committed(68, table_key=other)) == [
        "event 68: a key of its own for a deal"
    ]

import msgspec
import pytest

from controller.match.rulings import MatchRuling, approve, propose
from controller.match.rulings import penalty_entry as entry_of
from controller.messages import Role
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.penalty_record import Incident, PenaltyEntry
from controller.rules.penalties.proposals import MatchLost, propose_penalties

from .charged import HUAINAN, INTERNATIONAL, charge, placed


def test_an_incident_has_what_a_charge_and_an_entry_share() -> None:
    shared = set(Charge.__struct_fields__) & set(PenaltyEntry.__struct_fields__)
    assert shared == set(Incident.__struct_fields__)


def test_no_charge_and_no_entry_is_without_its_time() -> None:
    for kind, said in ((Charge, {"pointed_out_by": "N"}), (PenaltyEntry, {"article": None})):
        raw = {**placed("no_report", {}), "penalty": "warning", **said}
        assert msgspec.convert(raw, kind).at_ms == 60_000
        del raw["at_ms"]
        with pytest.raises(msgspec.ValidationError, match="missing required field `at_ms`"):
            msgspec.convert(raw, kind)


def test_what_a_ruling_leaves_in_the_record_has_the_time_of_the_offence() -> None:
    accused = charge("no_report", at_ms=754_321)
    ruling = propose("1", accused, propose_penalties(INTERNATIONAL, (), accused)[0], "Lin")
    ruled = approve(ruling, "Lin", Role.REFEREE)
    assert isinstance(ruled, MatchRuling)
    left = entry_of(ruled)
    assert left is not None
    assert (left.person, left.article, left.at_ms) == ("Dong", "A12.1–2", 754_321)


def test_a_whole_pair_is_charged_without_a_seat_and_a_person() -> None:
    pairs = charge("late", seat=None, person=None, deal=0)
    assert (pairs.seat, pairs.person, pairs.side, pairs.at_ms) == (None, None, "EW", 60_000)
    (default,) = propose_penalties(HUAINAN, (), pairs)
    assert default.effects == (MatchLost("EW"),)

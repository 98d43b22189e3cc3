from typing import Any

import msgspec
import pytest

from controller.rules.penalties.charges import (
    LapseReason,
    lapse_article,
    lapse_reasons,
    lapse_words,
)
from controller.rules.penalties.offences import offence_catalogue
from controller.rules.penalties.penalty_record import PenaltyRecord
from controller.rules.penalties.proposals import (
    PenaltyProposal,
    TurnLost,
    discretionary_proposal,
    propose_penalties,
)

from .charged import BCTA, HUAINAN, INTERNATIONAL, answers, charge, entry


def test_what_the_players_settled_is_closed_in_one_rulebook() -> None:
    for decision in ("recognised", "annulled"):
        (closed,) = answers(BCTA, "no_report", settled_by_players=decision)
        assert (closed.penalty, closed.article, closed.effects) == ("none", "B", ())


def test_what_the_players_settled_is_for_the_referee_elsewhere() -> None:
    waived, *_ = answers(INTERNATIONAL, "no_report", settled_by_players="recognised")
    assert (waived.penalty, waived.needs, waived.effects) == ("none", "referee", ())
    assert waived.article == "A15.3.6"
    annulled = answers(INTERNATIONAL, "no_report", settled_by_players="annulled")
    assert annulled == answers(INTERNATIONAL, "no_report")


def test_what_the_players_accepted_may_be_recognised_too() -> None:
    record = (entry("warning", "no_report"),)
    plain = answers(INTERNATIONAL, "no_report", record)
    _, *accepted = answers(INTERNATIONAL, "no_report", record, settled_by_players="recognised")
    assert [one.penalty for one in accepted] == [one.penalty for one in plain] == ["violation"]
    assert accepted[0].article == "A15.3.6, A12.1–2"
    assert accepted[0].needs == "referee"
    assert (accepted[0].effects, accepted[0].provisional) == (plain[0].effects, False)
    assert accepted[0].keys == ("penalties.settled_by_players",)
    assert accepted[0].why_en == (
        "what the players settled among themselves is recognised: " + plain[0].why_en
    ).replace("(A12", "(A15.3.6, A12")
    assert accepted[0].why_zh.startswith("承认运动员之间自行的处理：未主动报牌：")


def test_what_is_recognised_is_given_by_whom_it_would_be_otherwise() -> None:
    record = (entry("violation", "no_report"),)
    waived, *accepted = answers(
        INTERNATIONAL, "delay_tribute", record, step=2, settled_by_players="recognised"
    )
    assert waived.needs == "referee"
    assert [(one.penalty, one.needs) for one in accepted] == [
        ("foul", "chief"),
        ("violation", "chief"),
    ]
    assert accepted[0].keys[:2] == ("penalties.settled_by_players", "penalties.violations_to_foul")


def test_nothing_is_recognised_twice_but_a_lost_turn_is_something() -> None:
    said: dict[str, Any] = {"settled_by_players": "recognised"}
    assert [one.penalty for one in answers(INTERNATIONAL, "draw_unseen", **said)] == ["none"]
    waived, turn, *_ = answers(INTERNATIONAL, "play_out_of_turn", **said)
    assert (waived.penalty, waived.effects) == ("none", ())
    assert (turn.penalty, turn.effects) == ("none", (TurnLost("E", whole_trick=False),))


def test_what_a_rulebook_does_not_say_of_settling_is_proposed() -> None:
    for one in answers(HUAINAN, "play_out_of_turn", settled_by_players="recognised"):
        assert one.provisional


def test_the_chief_may_give_any_penalty_at_his_discretion() -> None:
    for profile, article in ((INTERNATIONAL, "A15.3.7"), (BCTA, None)):
        free = discretionary_proposal(profile, charge("no_report"), "warning")
        assert (free.penalty, free.needs, free.article) == ("warning", "chief", article)
        assert free.provisional is (article is None)
    assert discretionary_proposal(INTERNATIONAL, charge("no_report"), "violation").loses_turn


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ({}, ()),
        ({"pointed_out_by": "clock"}, ()),
        ({"pointed_out_by": "referee"}, ("not_at_once",)),
        ({"pointed_out_when": "later_trick"}, ("not_at_once",)),
        ({"pointed_out_when": "later_deal"}, ("not_at_once",)),
        ({"outsider_first": True}, ("outsider",)),
        ({"pointed_out_by": "outsider"}, ("not_at_once", "outsider")),
        ({"acted_first": True, "exploited": True}, ("acted_first", "exploited")),
    ],
)
def test_a_right_to_a_penalty_may_lapse(said: dict[str, Any], reasons: tuple[str, ...]) -> None:
    accused = charge("no_report", **said)
    assert lapse_reasons(accused) == reasons
    plain, found = (
        answers(INTERNATIONAL, "no_report"),
        propose_penalties(INTERNATIONAL, (), accused),
    )
    assert found[: len(plain)] == plain
    assert [one.penalty for one in found[len(plain) :]] == (["none"] if reasons else [])


def test_a_lapse_has_its_words_and_its_article_where_the_rulebook_knows_it() -> None:
    reason: LapseReason = "acted_first"
    assert lapse_article(INTERNATIONAL, reason) == "A15.3.8③"
    assert lapse_article(HUAINAN, reason) is None
    assert "自行采取行动" in lapse_words(reason).zh


def test_a_disputed_lapse_is_the_chiefs() -> None:
    disputed = answers(INTERNATIONAL, "no_report", acted_first=True, lapse_disputed=True)
    assert {one.needs for one in disputed} == {"chief"}
    undisputed = answers(INTERNATIONAL, "no_report", acted_first=True)
    assert {one.needs for one in undisputed} == {"referee"}
    assert undisputed[-1].article == "A15.3.8③"


def test_a_charge_against_a_seat_of_the_other_side_is_refused() -> None:
    with pytest.raises(ValueError, match="N does not play for EW"):
        charge("no_report", seat="N", side="EW")
    with pytest.raises(ValueError, match="step = 0"):
        charge("no_report", step=0)


def test_proposals_and_records_survive_being_written_down() -> None:
    for offence in offence_catalogue():
        for one in answers(HUAINAN, offence):
            assert msgspec.json.decode(msgspec.json.encode(one), type=PenaltyProposal) == one
    record = (entry("foul", "other"),)
    assert msgspec.json.decode(msgspec.json.encode(record), type=PenaltyRecord) == record

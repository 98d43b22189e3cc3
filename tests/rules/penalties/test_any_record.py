import msgspec
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.penalties.offences import offence_catalogue
from controller.rules.penalties.penalty_record import Penalty, PenaltyRecord
from controller.rules.penalties.proposals import CHIEF_PENALTIES
from controller.rules.profile import GuandanProfile
from controller.seats import SEATS

from .charged import BCTA, HUAIAN, HUAINAN, INTERNATIONAL, answers, entry

penalties_given = st.sampled_from(["warning", "violation", "foul", "match_forfeit"])
entries = st.builds(
    lambda penalty, offence, seat, number, match, deal: entry(
        penalty, offence, seat=seat, round=number, match=match, deal=deal
    ),
    penalties_given,
    st.sampled_from(list(offence_catalogue())),
    st.sampled_from(SEATS),
    st.integers(1, 2),
    st.sampled_from("12"),
    st.integers(1, 2),
)
records = st.lists(entries, max_size=8).map(tuple)
profiles = st.sampled_from([INTERNATIONAL, HUAIAN, HUAINAN, BCTA])
offences = st.sampled_from(list(offence_catalogue()))


@given(profiles, records, offences, st.booleans())
def test_a_foul_and_more_and_every_choice_are_the_chiefs(
    profile: GuandanProfile, record: PenaltyRecord, offence: str, harmed: bool
) -> None:
    found = answers(profile, offence, record, harmed=harmed)
    assert len({one.penalty for one in found}) == len(found)
    for number, one in enumerate(found):
        if number or one.penalty in CHIEF_PENALTIES:
            assert one.needs == "chief"
        assert one.provisional or one.article
        assert one.provisional or all(profile.article(key) for key in one.keys)
        assert one.why_en.isprintable()
        assert "{" not in one.why_en + one.why_zh


@given(profiles, records, records, offences)
def test_what_others_did_changes_nothing(
    profile: GuandanProfile, record: PenaltyRecord, others: PenaltyRecord, offence: str
) -> None:
    strangers = tuple(
        msgspec.structs.replace(one, pair="3", person="other", side="NS", seat="N")
        for one in others
    )
    own = tuple(msgspec.structs.replace(one, side="EW", seat="E") for one in record)
    assert answers(profile, offence, (*own, *strangers)) == answers(profile, offence, own)


@given(profiles, records, records, offences)
def test_more_offences_never_make_a_penalty_milder(
    profile: GuandanProfile, record: PenaltyRecord, later: PenaltyRecord, offence: str
) -> None:
    order: list[Penalty] = ["none", "warning", "violation", "foul", "match_forfeit"]
    order.append("disqualification")
    more = tuple(one for one in later if one.penalty != "foul")  # a foul closes its warnings
    before = answers(profile, offence, record)[0].penalty
    after = answers(profile, offence, (*record, *more))[0].penalty
    assert order.index(before) <= order.index(after)


times = st.integers(0, 10**9)


@given(profiles, records, offences, st.lists(times, min_size=9, max_size=9))
def test_when_something_happened_is_never_counted_by(
    profile: GuandanProfile, record: PenaltyRecord, offence: str, at_ms: list[int]
) -> None:
    now, *before = at_ms
    moved_on = tuple(
        msgspec.structs.replace(one, at_ms=at) for one, at in zip(record, before, strict=False)
    )
    assert answers(profile, offence, moved_on, at_ms=now) == answers(profile, offence, record)

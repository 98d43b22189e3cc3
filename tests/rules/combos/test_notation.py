import random
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from controller.cards import RANKS, SUITS, Face, composition, face_text
from controller.rules.combos.card_tokens import NotationError, QuestionError
from controller.rules.combos.guandan_combos import readings
from controller.rules.combos.play_notation import (
    TypedPlay,
    parse_play,
    parse_ranks,
    parse_typed_level,
    play_text,
)
from controller.rules.ranks import is_joker, is_wild, natural_rank
from tests.rows import each_row
from tests.rules.combos.plays import random_play

SET = composition(2, jokers=True)
PACK = composition(1, jokers=False)


def parse(text: str, level: int = 2) -> TypedPlay:
    return parse_play(text, level, SET)


def faces_of(text: str, level: int = 2) -> str:
    return " ".join(map(face_text, parse(text, level).faces))


@each_row(
    ("text", "faces"),
    [
        ("♠K", "♠K"),
        ("SK KS K♠ sk ks", "♠K ♠K ♠K ♠K ♠K"),
        ("10H HT ht 10♥", "♥10 ♥10 ♥10 ♥10"),
        ("S3S4S5S6S7", "♠3 ♠4 ♠5 ♠6 ♠7"),
        ("3S4S5S6S7S", "♠3 ♠4 ♠5 ♠6 ♠7"),
        ("♦789J♥2", "♦7 ♦8 ♦9 ♦J ♥2"),
        ("789J♦ ♥2", "♦7 ♦8 ♦9 ♦J ♥2"),
        ("♦7,♦8、♦9 + ♦10-♦J", "♦7 ♦8 ♦9 ♦10 ♦J"),
        ("SJ BJ 小王 大王", "SJ BJ SJ BJ"),
        ("BJSJ", "BJ SJ"),
        ("JS ♠J", "♠J ♠J"),
        ("JSQSKS", "♠J ♠Q ♠K"),
        ("♠KBJBJ", "♠K BJ BJ"),
        ("红桃2 黑桃3 梅花4 方块5 红心6 方片7", "♥2 ♠3 ♣4 ♦5 ♥6 ♦7"),
        ("♥️2 ♡3", "♥2 ♥3"),
        ("Ｓ１０", "♠10"),
        ("大鬼小鬼 大鬼", "BJ SJ BJ"),
        ("红2 黑10 梅J 草Q 方3", "♥2 ♠10 ♣J ♣Q ♦3"),
        ("黑桃十 红桃二", "♠10 ♥2"),
        ("♠3/♠4.♠5·♠6、♠7", "♠3 ♠4 ♠5 ♠6 ♠7"),
        ("(♠3 ♠4)[♠5]（♠6）【♠7】", "♠3 ♠4 ♠5 ♠6 ♠7"),
        ("♦J987 ♠A2345 ♣5432A", "♦J ♦9 ♦8 ♦7 ♠A ♠2 ♠3 ♠4 ♠5 ♣5 ♣4 ♣3 ♣2 ♣A"),
        ("♠3456789T", "♠3 ♠4 ♠5 ♠6 ♠7 ♠8 ♠9 ♠10"),
        ("10♠ SJ", "♠10 SJ"),
        ("S10 小王", "♠10 SJ"),
        ("SK SJBJ", "♠K SJ BJ"),
        ("大点 小点 大点小点", "BJ SJ BJ SJ"),
        ("Big Joker, small joker big-joker", "BJ SJ BJ"),
        ("王炸", "SJ SJ BJ BJ"),
        ("四大天王 天王炸", "SJ SJ BJ BJ SJ SJ BJ BJ"),
        ("红2红3 逢人配 百搭", "♥2 ♥3 ♥2 ♥2"),
        ("红心参谋 ♥参谋 参谋♥ 红级牌", "♥2 ♥2 ♥2 ♥2"),
        ("黑桃参谋 梅花參謀 方块级牌", "♠2 ♣2 ♦2"),
        ("4567红心参谋", "♠4 ♣5 ♦6 ♠7 ♥2"),
        ("♦4567配", "♦4 ♦5 ♦6 ♦7 ♥2"),
        ("2红 3黑桃", "♥2 ♠3"),
    ],
)
def test_cards_are_written_as_people_type_them(text: str, faces: str) -> None:
    every = composition(5, jokers=True)
    assert " ".join(map(face_text, parse_play(text, 2, every).faces)) == faces


@pytest.mark.parametrize("text", ["KK66 H2", "K K 6 6 H2", "kk,66,h2", "KK+66+♥2"])
def test_a_card_without_a_suit_is_known_as_such(text: str) -> None:
    play = parse(text)
    assert play.bare == (True, True, True, True, False)
    assert [natural_rank(face) for face in play.faces] == [13, 13, 6, 6, 2]


def test_in_chinese_a_suit_stands_before_its_card_wherever_it_is_in_a_word() -> None:
    play = parse("4567红2")
    assert play.bare == (True, True, True, True, False)
    assert face_text(play.faces[-1]) == "♥2"


@each_row(
    ("text", "level"),
    [
        ("5", 5),
        ("打5", 5),
        ("打五", 5),
        ("五", 5),
        ("打 10", 10),
        ("打十", 10),
        ("打A", 14),
        ("t", 10),
    ],
)
def test_a_level_is_written_as_people_say_it(text: str, level: int) -> None:
    assert parse_typed_level(text) == level


@each_row("text", ["3 参谋", "参谋参谋参谋", "级牌级牌", "参谋3", "参谋" * 8, "黑桃参谋 参谋"])
def test_a_card_of_the_level_is_its_rank_of_a_suit_that_nobody_said(text: str) -> None:
    as_rank = text.replace("参谋", "5").replace("级牌", "5")
    assert parse(text, level=5) == parse(as_rank, level=5)


def test_of_the_level_there_are_eight_cards() -> None:
    with pytest.raises(NotationError, match="there are only 8 × 5"):
        parse("参谋" * 9, level=5)
    with pytest.raises(NotationError, match="there are only 2 × ♥5"):
        parse("红心参谋 逢人配 ♥5", level=5)


def test_where_nothing_is_wild_nobody_has_the_wild_card() -> None:
    with pytest.raises(NotationError, match="nothing is wild here"):
        parse_play("♠3 逢人配", None, PACK)
    with pytest.raises(NotationError, match="no level is known here"):
        parse_play("♠3 红心参谋", None, PACK)


@each_row(
    ("text", "place", "says"),
    [
        ("", 1, "the play is empty: write cards, such as KK66 H2"),
        (" , ", 1, "the play is empty: write cards, such as KK66 H2"),
        ("KK1", 3, '"KK1": place 3, "1": no such card: ranks are'),
        ("34x", 3, '"34x": place 3, "x": no such card: ranks are'),
        ("KKKKKKKKK", 9, '"KKKKKKKKK": place 9, "K": there are only 8 × K'),
        ("3" * 11, 9, f'"{"3" * 11}": place 9, "3": there are only 8 × 3'),
        ("♠K♠K♠K♠K♠K", 5, '"♠K♠K♠K♠K♠K": place 5, "♠K": there are only 2 × ♠K'),
        ("♠️K♠️K♠️K♠️K", 5, '"♠️K♠️K♠️K♠️K": place 5, "♠️K": there are only 2 × ♠K'),
        ("SK SK Ks", 7, '"SK SK Ks": place 7, "Ks": there are only 2 × ♠K'),
        ("♠56 ♠56 ♠56", 9, '"♠56 ♠56 ♠56": place 9, "♠5": there are only 2 × ♠5'),
        ("♠K K KKKKKK ♥K", 13, '"♠K K KKKKKK ♥K": place 13, "♥K": there are only 8 × K'),
        ("SJ SJ SJ", 7, '"SJ SJ SJ": place 7, "SJ": there are only 2 × SJ'),
        ("KK66♥2", 5, '"KK66♥2": place 5, "♥": this suit may belong to the card on either'),
        ("S10SJSQ", 4, '"S10SJSQ": place 4, "SJ": SJ is the small joker'),
        ("KKKSJSJ", 4, '"KKKSJSJ": place 4, "SJ": SJ is the small joker'),
        ("s10 sj sq sk sa", 5, '"s10 sj sq sk sa": place 5, "sj": SJ is the small joker'),
        ("SJSJ H2", 1, '"SJSJ H2": place 1, "SJ": SJ is the small joker'),
        ("♠ K", 1, '"♠ K": place 1, "♠": a suit without its card'),
        ("K h", 3, '"K h": place 3, "h": a suit without its card'),
        ("K ♠♥", 3, '"K ♠♥": place 3, "♠": a suit without its card'),
        ("♠BJ", 1, '"♠BJ": place 1, "♠": a suit without its card'),
        ("3\n4\x07", 4, '"3·4·": place 4, "·": no such card'),
        ("3 joker", 3, '"3 joker": place 3, "joker": which joker? the big one is BJ or 大王'),
        ("RJ", 1, '"RJ": place 1, "RJ": which joker?'),
        ("大小王", 1, '"大小王": place 1, "大小王": which joker?'),
        ("3王", 2, '"3王": place 2, "王": which joker?'),
        ("SKKK", 1, '"SKKK": place 1, "SKKK": a suit covers the run it touches: write SK KK'),
        ("4 KKKs", 3, '"4 KKKs": place 3, "KKKs": a suit covers the run it touches: write KK Ks'),
        ("红桃2kk66", 1, '"红桃2kk66": place 1, "红桃2kk66": a suit covers the run it touches'),
        ("♥2K", 1, '"♥2K": place 1, "♥2K": a suit covers the run it touches: write ♥2 K'),
        ("♥263", 1, '"♥263": place 1, "♥263": a suit covers the run it touches: write ♥2 63'),
    ],
)
def test_a_mistake_is_told_in_one_line_at_its_place(text: str, place: int, says: str) -> None:
    with pytest.raises(NotationError) as told:
        parse(text)
    assert told.value.place == place
    assert str(told.value).startswith(says)
    assert "\n" not in str(told.value)


def test_a_suit_is_one_sign_whichever_keyboard_it_is_from() -> None:
    with pytest.raises(NotationError) as told:
        parse("♠️K ♥️Q x")
    assert told.value.place == 7


@given(st.lists(st.integers(2, 14), min_size=1, max_size=4), st.integers(2, 14), st.integers(0, 3))
def test_a_hand_reads_the_same_in_either_order_or_is_refused(
    bare: list[int], rank: int, suit: int
) -> None:
    word, rest = SUITS[suit] + RANKS[rank - 2], "".join(RANKS[one - 2] for one in bare)
    found = set()
    for text in (word + rest, rest + word, f"{word} {rest}", f"{rest} {word}"):
        try:
            play = parse_play(text, None, SET)
        except NotationError:
            continue
        cards = zip(play.faces, play.bare, strict=True)
        found.add(tuple(sorted((natural_rank(face), none or face) for face, none in cards)))
    ranks = {rank, *bare}
    gaps = max(ranks) - min(ranks) - len(bare)
    if len(ranks) <= len(bare) or (gaps > 2 and 14 not in ranks):
        assert len(found) == 1, found


def test_two_plays_of_one_deal_share_its_cards() -> None:
    on = parse("KKKK ♠K")
    assert parse_play("KK ♠K", 2, SET, other_play=on).faces
    with pytest.raises(NotationError, match="only 2 × ♠K in both plays together"):
        parse_play("♠K♠K", 2, SET, other_play=on)
    with pytest.raises(NotationError, match="only 8 × K in both plays together"):
        parse_play("KKKK", 2, SET, other_play=on)


def test_where_suits_decide_each_card_has_one() -> None:
    with pytest.raises(NotationError, match='place 4, "K": suits decide in Big Two') as told:
        parse_play("♠K K", None, PACK, suits_decide=True)
    assert told.value.place == 4
    with pytest.raises(NotationError, match="there are no jokers in these cards"):
        parse_play("♠K BJ", None, PACK, suits_decide=True)
    with pytest.raises(NotationError, match=r"there is only 1 × ♠K$"):
        parse_play("♠KK", None, PACK, suits_decide=True)


def test_in_cards_without_jokers_sj_is_a_jack() -> None:
    for text in ("S10SJSQ", "S10 SJ SQ", "♠T SJ ♠Q"):
        faces = parse_play(text, None, PACK, suits_decide=True).faces
        assert " ".join(map(face_text, faces)) == "♠10 ♠J ♠Q"
    with pytest.raises(NotationError, match="there are no jokers in these cards"):
        parse_play("小王", None, PACK)


def test_where_suits_decide_a_suit_covers_whatever_it_touches() -> None:
    faces = parse_play("♠2K6", None, PACK, suits_decide=True).faces
    assert " ".join(map(face_text, faces)) == "♠2 ♠K ♠6"


def test_what_is_written_back_is_read_as_the_same_play(scale: Callable[[int], int]) -> None:
    rng = random.Random(9)
    for _ in range(scale(20_000)):
        faces, level = random_play(rng)
        bare = tuple(not is_joker(face) and rng.random() < 0.5 for face in faces)
        written = play_text(TypedPlay(tuple(faces), bare))
        play = parse(written, level)
        assert play.bare == bare
        assert [natural_rank(face) for face in play.faces] == [natural_rank(face) for face in faces]
        assert all(
            ours == face
            for ours, face, hidden in zip(play.faces, faces, bare, strict=True)
            if not hidden
        )
        assert parse(play_text(play), level) == play


@given(st.lists(st.integers(0, 51), min_size=1, max_size=10), st.data())
def test_any_way_of_writing_a_card_is_that_card(faces: list[Face], data: st.DataObject) -> None:
    assume(max(Counter(faces).values()) <= 2)
    words = []
    for face in faces:
        suit, rank = data.draw(st.sampled_from(["SHCD", SUITS])), RANKS[face % 13]
        sign = suit[face // 13]
        rank = data.draw(st.sampled_from([rank, rank.replace("10", "T"), rank.lower()]))
        words.append(
            sign + rank if sign + rank.upper() != "SJ" and data.draw(st.booleans()) else rank + sign
        )
    gap = data.draw(st.sampled_from([" ", ",", " + ", "，"]))
    assert parse(gap.join(words)).faces == tuple(faces)


@given(st.lists(st.sampled_from(RANKS), min_size=1, max_size=10), st.integers(2, 14))
def test_suits_that_nobody_wrote_mean_nothing(ranks: list[str], level: int) -> None:
    assume(max(Counter(ranks).values()) <= 6)
    play = parse(" ".join(ranks), level)
    assert max(Counter(play.faces).values()) <= 2
    assert not any(is_wild(face, level) for face in play.faces)


@given(st.integers(5, 14), st.sets(st.integers(0, 4), min_size=1), st.integers(0, 3), st.data())
def test_no_straight_flush_comes_of_a_missing_suit(
    top: int, bare: set[int], suit: int, data: st.DataObject
) -> None:
    ranks = [RANKS[(top - 4 + n - 2) % 13] for n in range(5)]
    words = [rank if n in bare else SUITS[suit] + rank for n, rank in enumerate(ranks)]
    level = data.draw(st.integers(2, 14))
    if data.draw(st.booleans()):
        words[data.draw(st.sampled_from(sorted({0, 1, 2, 3, 4} - bare) or [0]))] = (
            f"♥{RANKS[level - 2]}"
        )
    combo = next(iter(readings(parse(" ".join(words), level).faces, level)), None)
    still_bare = any(word in RANKS for word in words)
    assert combo is None or combo.kind != "straight_flush" or not still_bare


def test_a_wild_card_that_nobody_wrote_comes_only_where_nothing_else_is_left() -> None:
    assert faces_of("222222") == "♠2 ♣2 ♦2 ♠2 ♣2 ♦2"
    assert faces_of("22222222") == "♠2 ♣2 ♦2 ♠2 ♣2 ♦2 ♥2 ♥2"


@pytest.mark.parametrize(("text", "level"), [("2", 2), ("10", 10), ("t", 10), ("j", 11), ("A", 14)])
def test_a_level_is_written_as_a_rank(text: str, level: int) -> None:
    assert parse_typed_level(text) == level


@pytest.mark.parametrize("text", ["", "1", "A+", "15", "SJ", "two\n"])
def test_another_level_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(QuestionError, match=r"^no level is called .*: write 2…10, J, Q, K or A$"):
        parse_typed_level(text)


def test_ranks_are_read_without_their_suits() -> None:
    assert parse_ranks("♦6789T") == (6, 7, 8, 9, 10)
    assert parse_ranks("KKK SJSJ") == (13, 13, 13, 16, 16)

from pathlib import Path

import pytest

from controller.config import ConfigError, TableConfig, load_sim, load_table
from tests.rows import each_row

TABLE = """
[table]
id = "T07"
profile = "international-000"
backend = "sim"
state_dir = "state"
[dealer]
port = "/dev/pts/3"
id = "00000000000000d1"
[reader]
port = "/dev/pts/4"
id = "00000000000000e1"
[panel]
pins = "unix:/dev/shm/dt-1/pins"
[[card_set]]
id = "S1"
back = "A"
"""
SECOND_SET = '[[card_set]]\nid = "S2"\nback = "{}"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.toml"


def load(file: Path, old: str = "", new: str = "") -> TableConfig:
    assert old in TABLE
    file.write_text(TABLE.replace(old, new) if old else TABLE + new)
    return load_table(file)


def test_what_a_file_leaves_out_has_a_default(file: Path) -> None:
    config = load(file)
    assert config.dealer.baud == 921_600
    assert config.gateway.feed == "tcp://*:5556"
    limits = config.limits
    assert (limits.cut_s, limits.take_s, limits.result_s, limits.out_s) == (60, 60, 60, 20)
    assert limits.slow_deal_s == 12 * 60
    assert not config.play.deal_ahead
    assert config.table.event is None
    assert config.table.runtime_dir == Path("/run/dealtable/T07")


READER_ID = 'id = "00000000000000e1"'


@pytest.mark.parametrize(
    ("said", "trigger", "look_s"),
    [
        ("", "wire", 0.3),
        ('trigger = "wire"', "wire", 0.3),
        ('trigger = "asked"', "asked", 0.5),
        ('trigger = "asked"\nlook_ms = 900', "asked", 0.9),
    ],
)
def test_a_reader_is_told_by_its_wire_unless_the_file_says_that_it_is_asked(
    file: Path, said: str, trigger: str, look_s: float
) -> None:
    reader = load(file, READER_ID, f"{READER_ID}\n{said}").reader
    assert (reader.trigger, reader.look_s) == (trigger, look_s)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("look_ms = 500", 'look_ms: expected nothing, or trigger = "asked"'),
        ('trigger = "asked"\nlook_ms = 50', "reader.look_ms = 50"),
        ('trigger = "none"', "reader.trigger"),
    ],
)
def test_how_a_reader_is_told_is_checked(file: Path, said: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(file, READER_ID, f"{READER_ID}\n{said}")
    assert line in str(caught.value)


def test_relative_paths_count_from_the_files_folder(file: Path) -> None:
    table = load(file, '"state"', '"state"\nevent = "events/cup.toml"').table
    assert table.state_dir == file.parent / "state"
    assert table.event == file.parent / "events" / "cup.toml"


def test_a_table_has_its_sets_in_the_order_of_the_file(file: Path) -> None:
    config = load(file, new=SECOND_SET.format("B") + "[play]\ndeal_ahead = true")
    assert [(one.id, one.back) for one in config.card_sets] == [("S1", "A"), ("S2", "B")]
    assert config.play.deal_ahead


@pytest.mark.parametrize(("number", "fits"), [(0, False), (1, True), (9, True), (10, False)])
def test_a_table_has_one_to_nine_sets(file: Path, number: int, fits: bool) -> None:
    sets = ", ".join(f'{{id = "S{n}", back = "A"}}' for n in range(number))
    start = TABLE.index("[[card_set]]")
    file.write_text(f"card_set = [{sets}]\n{TABLE[:start]}")
    if fits:
        assert len(load_table(file).card_sets) == number
        return
    with pytest.raises(ConfigError, match=r"card_set = .*: expected one to nine \[\[card_set"):
        load_table(file)


@pytest.mark.parametrize("name", ["table.toml", "sim.toml"])
def test_the_examples_are_right(name: str, request: pytest.FixtureRequest) -> None:
    example = request.config.rootpath / "deploy" / name
    assert load_table(example) if name == "table.toml" else load_sim(example)


@each_row(
    ("old", "new", "line"),
    [
        ('port = "/dev/pts/3"', 'prt = "x"', 'dealer.prt: unknown key, did you mean "port"?'),
        ('port = "/dev/pts/3"', "", "dealer.port: missing, expected text"),
        ("[[card_set]]", "[[cards]]", "cards: unknown key, did you mean"),
        ("00000000000000d1", "D1", 'dealer.id = "D1": expected 16 hexadecimal digits'),
        ("00000000000000e1", "00000000000000d1", "reader.id: expected another one than dealer.id"),
        ("/dev/pts/4", "/dev/pts/3", "reader.port: expected another one than dealer.port"),
        (
            'port = "/dev/pts/3"',
            'port = "/dev/pts/3"\nfirmware = "0.1.0"',
            'dealer.firmware = "0.1.0": expected a firmware\'s hash, 16 hexadecimal digits',
        ),
        ('"sim"', '"usb"', 'table.backend = "usb": expected one of "serial", "sim"'),
        ('"state"', "3", "table.state_dir = 3: expected a path"),
        ('"state"', '"s"\nruntime_dir = "s/run"', "table.runtime_dir: expected a path outside"),
        ('"state"', f'"s"\nruntime_dir = "/{"x" * 99}"', "table.runtime_dir: expected at most 80"),
        ('"T07"', '"table seven"', 'table.id = "table seven": expected a name of at most 24'),
        ("unix:/dev/shm/dt-1/pins", "gpio", 'panel.pins = "gpio": expected "lgpio", "mock" or'),
        (
            "[[card_set]]",
            "estop = 5\n[[card_set]]",
            "panel.estop = 5: expected another pin than lid",
        ),
        ("[[card_set]]", "lid = 40\n[[card_set]]", "panel.lid = 40: expected a GPIO number"),
        ("", "[limits]\ncut_s = 1", "limits.cut_s = 1: expected a number from 5 to 600"),
        ("", '[limits]\ncut_s = "1"', 'limits.cut_s = "1": expected a number from 5 to 600'),
        ("", '[gateway]\nfeed = "here"', 'gateway.feed = "here": expected an address like'),
        ("", "[limits", "Expected ']'"),
        ("", "[limits]\ntake_s = 0", "limits.take_s = 0: expected a number from 10 to 600"),
        ("", "[limits]\nresult_s = 0", "limits.result_s = 0: expected a number from 10 to 600"),
        ("", "[limits]\nslow_deal_s = 9", "limits.slow_deal_s = 9: expected a number from 120"),
        ("", "[limits]\nout_s = 300", "limits.out_s = 300: expected a number from 5 to 120"),
        ("[[card_set]]", "[card_set]", 'card_set = {id = "S1", back = "A"}: expected one to nine'),
        ("", SECOND_SET.format("C"), 'card_set[1].back = "C": expected one of "A", "B"'),
        ("", SECOND_SET.format("B") * 2, "card_set[2].id: expected another one than card_set[1]"),
        ("", "[play]\ndeal_ahead = true", "play.deal_ahead: expected two card_set, one of back A"),
        (
            "",
            SECOND_SET.format("A") + "[play]\ndeal_ahead = true",
            "play.deal_ahead: expected two card_set, one of back A and one of back B",
        ),
        ("", '[play]\ndeal_ahead = "no"', 'play.deal_ahead = "no": expected true or false'),
        ('"state"', '"s"\nevent = 1', "table.event = 1: expected a path"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(file: Path, old: str, new: str, line: str) -> None:
    with pytest.raises(ConfigError) as told:
        load(file, old, new)
    assert str(told.value).startswith(f"{file}: {line}")
    assert "\n" not in str(told.value)


def test_a_missing_file_is_named(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"table\.toml: there is no such file"):
        load_table(file)


def test_a_file_that_is_no_text_is_named(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_table(file)


def test_an_empty_sim_file_is_a_whole_simulated_table(file: Path) -> None:
    file.write_text("")
    config = load_sim(file)
    assert (config.mechanics.packs, config.mechanics.jokers) == (2, True)
    assert [one.id for one in config.card_sets] == ["S1"]
    assert (config.mechanics.speed, config.faults) == (1.0, [])


def test_a_sim_file_may_have_sets_of_one_pack_without_jokers(file: Path) -> None:
    file.write_text("[mechanics]\npacks = 1\njokers = false\n" + SECOND_SET.format("B"))
    config = load_sim(file)
    assert (config.mechanics.packs, config.mechanics.jokers) == (1, False)
    assert [(one.id, one.back) for one in config.card_sets] == [("S2", "B")]


def test_faults_of_a_sim_file_keep_their_fields(file: Path) -> None:
    file.write_text('[[fault]]\nname = "jam"\nplace = "gate"\nat = 40\n')
    assert load_sim(file).faults == [{"name": "jam", "place": "gate", "at": 40}]


def test_two_sets_of_one_name_are_refused_in_a_sim_file_too(file: Path) -> None:
    file.write_text(SECOND_SET.format("A") + SECOND_SET.format("B"))
    with pytest.raises(ConfigError, match=r"card_set\[1\]\.id: expected another one"):
        load_sim(file)

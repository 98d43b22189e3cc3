"""The hardware of a table's boards in words, and the guarantees that this hardware lacks.

The functions are pure. The words follow from the boards' own reports. The limits are those of
deploy/THREATS.md.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from controller.messages import ConnectedBoard, ReportedBoards
from controller.words import Words


class HardwareView(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Descriptions of a table's boards and the reader's trigger. `cannot`: missing guarantees."""

    dealer: Words
    reader: Words
    trigger: Words
    cannot: tuple[Words, ...] = ()


@lru_cache(maxsize=64)
def describe_hardware(boards: ReportedBoards) -> HardwareView:
    """Return a description of the hardware that the boards of a table report."""
    return HardwareView(
        dealer=_board_words(boards.dealer),
        reader=_board_words(boards.reader),
        trigger=_TRIGGER_WORDS.get(boards.trigger or "", _UNKNOWN),
        cannot=(
            *(_DRIVE_WARNINGS if _is_adapter(boards.dealer) else ()),
            *(_READER_WARNINGS if _is_adapter(boards.reader) else ()),
            *(_TRIGGER_WARNINGS if boards.trigger == "asked" else ()),
        ),
    )


def _board_words(board: ConnectedBoard | None) -> Words:
    return _NOT_THERE if board is None else _HAL_WORDS.get(board.hal, _UNKNOWN)


def _is_adapter(board: ConnectedBoard | None) -> bool:
    return board is not None and board.hal == "adapter"


_UNKNOWN: Final = Words("unknown", "此处未知")
_NOT_THERE: Final = Words("not there, or not the right one", "无应答或不符")
_HAL_WORDS: Final[Mapping[str, Words]] = {
    "sim": Words("simulated: no real card moves", "模拟硬件：没有实牌"),
    "rp2": Words("a board of its own (RP2040)", "专用控制板（RP2040）"),
    "adapter": Words("bought parts, driven by a program (adapter)", "外购部件，由适配程序驱动"),
}
_TRIGGER_WORDS: Final[Mapping[str, Words]] = {
    "wire": Words("by a wire of the dealer board", "由发牌控制板的触发线"),
    "asked": Words("asked by the machine for each card: no wire", "由程序逐张询问，无触发线"),
}
_DRIVE_WARNINGS: Final = (
    Words(
        "Motors do not stop automatically if the computer hangs or the line is cut. The drive's "
        "own watchdog, its count of steps or the e-stop ends the motion",
        "电脑停滞或线路中断时电机不会自行停下：须由驱动器看门狗、步数走完或急停来终止",
    ),
    Words(
        "The limits of a motion run in that program, not in a board",
        "运动限位由该程序执行，不在控制板上",
    ),
    Words(
        "The feeder stops late after a card, so a second card may follow. The double sensor or the "
        "count detects it",
        "送牌口停得较晚，可能多带一张：由双张检测或张数核对发现",
    ),
    Words(
        "A person with access to the drives' line can move motors and imitate sensors. The line "
        "must be inside the locked box",
        "接触到驱动器线路的人可驱动电机、冒充传感器：线路须在上锁的机箱内",
    ),
)
_READER_WARNINGS: Final = (
    Words(
        "A card that is face up is only reported as unreadable: players may have seen it",
        "牌面朝上的牌只报无法识别：选手可能已看到",
    ),
    Words(
        "Backs are checked by the code alone. A card of another set with the same codes is not "
        "detected",
        "牌背只凭条码认定：另一套编码相同的牌看不出来",
    ),
    Words(
        "A late answer is taken as the answer for the next card. The count of the set detects "
        "this, unless both cards have the same face",
        "迟到的读数会算作下一张：除非两张相同，由整套核对发现",
    ),
)
_TRIGGER_WARNINGS: Final = (
    Words(
        "The reader counts the machine's own questions. Its count is no second proof of a card",
        "识牌张数出自程序自己的询问，不能作为第二个见证",
    ),
)

"""The boards that a table's configuration expects at its two ports."""

from controller.config import BoardSection, ReaderSection, TableConfig
from drivers.board_events import BoardKind
from drivers.board_identity import ExpectedBoard


def expected_boards(
    config: TableConfig, firmware: str, *, settings: bool = True
) -> dict[BoardKind, ExpectedBoard]:
    """Return the identity that each board must report before any motor may move.

    `firmware` is the hash of the firmware in this program. A board must report this hash unless
    the configuration names another one. If `settings` is False, the boards may have any settings.
    """
    sections: dict[BoardKind, BoardSection] = {"dealer": config.dealer, "reader": config.reader}
    return {
        board: ExpectedBoard(
            kind=board,
            uid=section.id,
            is_simulated=config.table.backend == "sim",
            firmware=section.firmware or firmware,
            settings_crc=section.settings_crc if settings else None,
            is_polled=isinstance(section, ReaderSection) and section.trigger == "asked",
        )
        for board, section in sections.items()
    }

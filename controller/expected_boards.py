"""The boards that a table's configuration expects at its two ports."""

from controller.config import BoardSection as BoardConfig
from controller.config import ReaderSection, TableConfig
from drivers.board_events import BoardKind
from drivers.board_identity import ExpectedBoard


def expected_boards(
    config: TableConfig, firmware: str, *, settings: bool = True
) -> dict[BoardKind, ExpectedBoard]:
    """Return what each board must report before anything moves.

    `firmware` is the hash of the firmware that this program carries. A board must report it
    unless the configuration names another one. With `settings` false any settings pass.
    """
    simulated = config.table.backend == "sim"

    def of(board: BoardKind, section: BoardConfig) -> ExpectedBoard:
        return ExpectedBoard(
            kind=board,
            uid=section.id,
            is_simulated=simulated,
            firmware=section.firmware or firmware,
            settings_crc=section.settings_crc if settings else None,
            is_polled=isinstance(section, ReaderSection) and section.trigger == "asked",
        )

    return {"dealer": of("dealer", config.dealer), "reader": of("reader", config.reader)}

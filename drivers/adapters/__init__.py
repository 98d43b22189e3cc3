"""Programs that take the place of a board, so that parts on sale can move and read the cards.

Each runs the firmware's own core behind a pseudo-terminal (pty) on which it uses the protocol of
PROTOCOL.md (adapter_board.py). The layer below the core, its HAL, drives bought parts instead of
pins: a serial barcode engine (barcode_reader.py) or motor controllers. At start, each program lists
the promises of a real board that it cannot keep. deploy/THREATS.md explains the consequences.
"""

"""Programs that replace a board, so that parts on sale can move and read the cards.

Each runs the firmware's own core on a pty that speaks PROTOCOL.md (adapter_board.py). Its HAL
drives bought parts instead of pins: a serial barcode engine (barcode_reader.py) or motor
controllers. At start, each program lists the promises of a real board that it cannot keep.
deploy/THREATS.md explains the consequences.
"""

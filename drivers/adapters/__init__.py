"""Adapters: programs that act as a board and control bought parts, such as a barcode engine.

Each adapter runs the firmware's own core behind a pseudo-terminal (pty), with the protocol of
PROTOCOL.md (adapter_board.py). The layer below the core, its HAL, drives bought parts instead of
pins: a serial barcode engine (barcode_reader.py) or motor controllers. At start, each program lists
the promises of a real board that it cannot keep. deploy/THREATS.md explains the consequences.
"""

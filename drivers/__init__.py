"""Access to all hardware: the boards behind serial lines, and the panel.

typed_boards.py has a typed object for each of the two boards. board_events.py defines what the
boards report, errors.py every exception that the drivers raise, and board_identity.py the check
that the right board answered. link/ contains the reliable serial link, firmware/ the programs of
the boards. Nothing here depends on the controller.
"""

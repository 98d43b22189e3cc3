"""From a card's event to its route: many tables and a floor, measured by one plant.

One process, the plant, plays the boards of all tables. A card's deciding word, the later one of
AT_READER and READ, is held back until its table's turn comes; then it is written and the line is
read until the ROUTE is whole. Every round asks each table once, in another order each time, and a
process that only echoes bytes: so whatever else the computer does disturbs all of them alike, and
what the plant itself costs is in every time, the floor's too.

lines.py      a board's line that can be held back and timed
plant.py      the process of all boards, and its rounds
echo.py       the floor: a process that answers bytes with bytes
plain.py      a table of two boards and the dealing loop alone
variants.py   the tables that are compared: what is on, and what disturbs them
disturbed/    what disturbs a process from within, as Python finds it when it starts
peers.py      other ways to a serial port, where a checkout has them: tests/peers
measured.py   the run of them, and what is made of its samples
"""

"""One match: from taking the seats to the signed score sheet, as one pure function.

`reducer.step(match, event)` is the match afterwards, and its effects; its table says which
event is legal when and which function handles it. A match is a value (state.py), what can
happen to it stands in events.py, what it asks and tells in effects.py, why it refuses in
refusals.py, what it waits for in phase.py, who plays it in meeting.py.

A deal's way: opening.py (seats, cut), hands.py (dealt, released, counted), exchanging.py
(tribute and return), finishing.py (places, result), course.py (the next deal, or the end,
by judging.py), closing.py (corrections, signatures). sheet.py has the rows and what they
make together, rows.py writes a deal's. Beside it: timing.py and clocks/ (they propose),
desk.py, rulings.py, enforcing.py and authority.py (people decide), bigtwo.py. For the table
around it: presses.py (what a button means now), time_due.py (when to tick next), needs.py
(whom a match waits for), unseen.py (what may only be told with the rest of it), transfer.py
(a match as a document for another table), `events.data_of` and `event_of` (how a journal
keeps an event).
"""

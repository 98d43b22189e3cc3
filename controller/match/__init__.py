"""The pure functions of one match, from the choice of seats to the signed score sheet.

`reducer.step(match, event)` returns the next match and its effects. Its table lists when each event
is legal and which function handles it. match_state.py has the state, match_events.py the events,
match_effects.py the effects, refusals.py the refusals, and phase.py the phases.

The steps of a deal: deal_start.py (seats, cut, hands, count), tribute_exchange.py (tribute and
return), deal_end.py (places, result), next_deal.py (the next deal or the end). sheet_rows.py and
sheet_writing.py have the score sheet. timing.py and clocks/ propose rulings about time.
ruling_desk.py and rulings.py handle decisions of people. big_two_match.py and big_two_choices.py
have what only Big Two needs. For the table around a match: seat_buttons.py (the meaning of a
button), referee_calls.py (calls for a referee), and transfer_document.py (a match as a document for
a move to another table).
"""

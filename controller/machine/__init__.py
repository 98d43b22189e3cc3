"""The machine process: ports, pins, faces, state and journal; no network.

Everything that happens is an entry of the journal, written through record.py; two folds make
a state of it, state.py the machine's and play/ the match's, and neither knows the other. What
runs beside them drives boards and people, and writes the next entry. To begin with read
record.py, deals.py, attempt_run.py, and acts.py for what people order.

What is so:
    record.py       the writing end: journal first, then state, then feed
    state.py        the machine as a fold over the journal: attempt, sets, faults, pauses
    play/           the match as a fold over the same entries: what is wanted, needed, over
    card_sets.py    which set is out, and which is dealt with next
    stops.py        which faults stop the machine, and the phase that people see
    clock.py        the table's clock, in milliseconds, over restarts
    waited.py       how long people waited for their hands

A deal:
    due.py          which deal is to be dealt next
    deals.py        one deal after the other; who may cut
    attempt_run.py  one attempt, from its seed to held hands, step by step
    attempt_book.py what it leaves in the journal, and the secrets behind it
    dealing.py      the cards of an attempt: events in, routes out; it cannot see faces
    sightings.py    what the boards' words mean for an attempt
    asking.py       what boards are asked, and what a refusal of theirs means
    release.py      held hands on their way out
    clearing.py     between deals: the lift down, the cards away, the set back
    hands_out.py    hands that are out, until their deal is over: shown or recalled
    hands_kept.py   hands that were played, kept shut until the profile opens them

What an earlier run left open:
    left_over.py    what the journal and the key file tell of it
    take_over.py    how it goes on, or why it cannot, by what the boards say

People:
    order/          commands: who may give which, and what those about the match mean
    acts.py         what the machine does on an order, and why a step cannot be ordered now
    technical.py    what a technician orders: tests and settings of the boards
    front.py        buttons become orders, the state becomes light: lamps.py, cut_counter.py
    patience.py     how long people may keep the table waiting
    public/         the public state, and what it says in words
    sheet/          the score sheet (记分表), as data and as text
    alerts.py       a latched fault in words
    publisher.py    when the state goes out
    pace.py         when hands will be ready

The boards, and the house around them:
    boards.py       a board's line: looked for, checked, looked for again
    table.py        who is there, and whose attempt the boards' words are about
    wire_log.py     what the boards said, on its way into the journal
    machine.py      all of this put together; lasting.py: one after the other, over a full disk
    door.py         the Unix socket to the gateway
    metrics.py      the machine's numbers; own_process.py: those of the process

Imports go one way: state and play, record, order, attempt, table, deals, acts, machine. Who
may cut: `cutters` in deals.py, from the match's duties (controller/match/next_deal.py, out of
the profile's ceremony); acts.py asks it of an order, front.py of a button, and the match once
more.
"""

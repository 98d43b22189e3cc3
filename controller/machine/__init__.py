"""The machine process: ports, pins, faces, state and journal, without a network.

Everything that happens is an entry of the journal, written through table_record.py. Two folds
compute the state from the entries: state/state_fold.py for the machine, state/table_match.py for
the match. All other modules drive boards, wait for people, and write the next entry. Begin with
table_record.py, attempts/deal_cycle.py and attempts/attempt_run.py; for commands, read
commands/command_processor.py.

    table_record.py     the writer: first the journal, then the state, then the feed
    state/              the folds: the table's state, the match, card sets, due deals
    attempts/           one attempt: card loop, steps, entries, release, recovery
    boards/             the connections of both boards, and the meaning of their events
    commands/           the checks of commands, and their effects
    public/             the public state and the score sheet
    panel_control.py    buttons become commands, the state becomes lamps
    table_calls.py      calls for people after a timeout
    machine.py          the construction of all parts
    machine_supervisor.py  the restart of the machine after a full disk
    gateway_socket.py   the Unix socket to the gateway
    machine_metrics.py  the numbers of the machine and of its process

Imports go one way: state, table_record, commands, attempts, boards, machine. `cutters()` in
attempts/deal_cycle.py returns the seats that may cut. The commands and the panel both call it, and
the match checks it again.
"""

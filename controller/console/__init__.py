"""The referees' console: one list of who waits, a page for every table, every command in reach.

It knows what the tables' feeds say and nothing else; a process of its own, usually on another
computer. To begin with read seen.py (what is known of a table), shown.py (what a page is shown),
tables.py, hall.py and desk.py; console.py puts them together, app.py and serving.py open it to
browsers.

How a state comes from the wire to the pixel:
    lines/          feed.py drains all sockets, 20 times a second; taken.py says which messages are
                    a table's; heard.py when it was heard; backfill.py asks for what was missed
    tables.py       the last state of each table, decoded once; events on their way to store/
    listeners.py    who is told of it: one that fails hides it from no other
    standing.py     how fresh that is: live, stale, silent, another key
    view/           what people see of it, pure: rows.py, waits.py, areas.py, chief.py, told.py, …
    hall.py         the hall's parts, one_table.py a table's: a view made anew where it has news
    findings.py     what the chief is told and no state says; keeping.py keeps score sheets
    late.py         which of two events happened first, as one may come late
    shown.py        parts under names, each with its number; the stream (SSE) of what has changed
    routes/         stream.py carries it; static/js/stream.mjs takes it, static/js/README.md goes on

How an order goes out and is seen:
    routes/orders.py    a person's wish (wish.py), under an id of his browser
    desk.py             may he; sign it with his role's key (keys.py); write it to store/; send it
                        by a client (clients.py); write the answer. The same id acts once
    then                the table's journal tells of it, tables.py hears that, desk.py notes its
                        number as `seen`, and the page shows what the table answered and did
    acts.py, routes/draw.py, carrying.py    many orders that people mean as one, table by table

People, and the house around them:
    people.py, sessions.py  who may log in, PINs, invitations; who is logged in
    leaving.py      who logged out, also while the database is away
    guesses.py              how often somebody may try a PIN
    pacing.py               how fast somebody may order, and an address may ask
    lookers.py, rings.py    how many lines a person and a browser have; which of its pages sounds
    takes.py        who goes to which table
    routing.py      what a route is given, roles, errors; wrong.py: why something is not done
    doors.py        how many connections one address has, and how long it may take to ask
    find.py, taking_up.py   tables on the network, taken up while the console runs
    store/          the database: events, heads, orders, people, sheets; two threads beside the loop
    config.py       console.toml, and tables.toml beside it
    running.py      what runs as long as the console does: where it fails, the console ends
    clock.py        the console's clock: steady, and right once somebody has set the wall's

Imports go one way: view and standing, shown and store, lines, tables, hall and desk, console,
routing, routes, app, serving. View knows no clock, socket or store: `now_ms` is passed in.
"""

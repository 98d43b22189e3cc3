"""The referees' console: web pages with calls for a referee, all tables and all commands.

The console is a process of its own, usually on another computer. All its data about tables come
from the tables' feeds. A new reader begins with table_snapshots.py (the known state of a table) and
live_pages/page_parts.py (the content of a page). feed/table_feeds.py, live_pages/hall_page.py and
commands/command_dispatcher.py follow. console.py constructs all parts. server.py opens the
console to browsers.

    feed/           sockets, checks and intake of the tables' messages; missing events
    freshness.py    whether a table is live, stale, silent, or has another key
    view/           what people see, as pure functions of the tables' states
    live_pages/     pages that stay open: their parts and their streams (SSE)
    routes/         the answers to browsers, by subject; static/js/README.md describes the pages
    commands/       people's commands: checked, signed, stored, sent; actions for a whole area
    accounts/       people, PINs, sessions
    store/          the database: events, heads, commands, people, sheets
    call_assignments.py   who goes to which table
    table_enrolment.py   tables on the network, added while the console runs
    rate_limits.py, connection_limits.py   limits for people and addresses
    routing.py, request_error.py   roles and errors of routes
    console_config.py   console.toml, and tables.toml beside it
    sheet_keeper.py     the score sheets of finished matches

The path of a command: a route of routes/table_routes.py or routes/area_routes.py receives the
command, with an id from the browser. The dispatcher checks the role, signs the command with the key
of that role, stores it, sends it, and stores the answer. Later the table's feed contains the
journal entry of the command, and the page shows the result.

Each part imports only parts that come before it in this list: freshness, table_snapshots, store,
view, feed, accounts, commands, live_pages, console, routing, routes, server. The folder view/
uses no clock and no socket. Its functions receive the time as `now_ms`.
"""

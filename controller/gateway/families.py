"""What the numbers are called, after Prometheus' conventions, and what each of them means.

A family is a row: its kind, its name behind `dealtable_`, what it counts, and its labels
beside `table` and `simulated`, which all have. Counters of entries go on over restarts of
the daemon, since they are folded from its journal; all others begin with the process.
"""

from typing import Final, Literal, NamedTuple


class Family(NamedTuple):
    """One family of numbers."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()


_BOARD = ("board",)

FAMILIES: Final[dict[str, Family]] = {
    # Deals, out of the public entries of the journal.
    "deals": Family("counter", "deals_total", "Deals whose hands were let out."),
    "attempts": Family(
        "counter", "attempts_total", "Attempts by the verdict on them.", ("outcome",)
    ),
    "redeals": Family(
        "counter",
        "redeals_total",
        "Misdeals: attempts that the count check refused, by the first of their reasons.",
        ("reason",),
    ),
    "voids": Family(
        "counter",
        "voids_total",
        "Attempts given up, before their verdict or after, by the first of their reasons.",
        ("reason",),
    ),
    "cards_fed": Family(
        "counter",
        "cards_fed_total",
        "Cards that the rollers fed, counted at the verdict.",
        ("source",),
    ),
    "misreads": Family(
        "counter", "misreads_total", "Cards that needed a second look, by way of the tray."
    ),
    "set_deals": Family(
        "counter", "set_deals_total", "Deals played with a set of cards.", ("set",)
    ),
    "faults": Family("counter", "faults_total", "Times that a fault came up.", ("fault",)),
    # What the boards saw, counted with the attempt's verdict.
    "reads": Family("counter", "reads_total", "Looks of the reader at a card.", ("seen",)),
    "tray_cards": Family("counter", "tray_cards_total", "Cards that landed in the tray."),
    "double_feeds": Family("counter", "double_feeds_total", "Two cards fed as one."),
    "strays": Family("counter", "strays_total", "Landings that no card was due for."),
    "jams": Family("counter", "jams_total", "Jams by place.", ("place",)),
    "stalls": Family("counter", "stalls_total", "Motors that stood still under power.", ("motor",)),
    "gate_turns": Family("counter", "gate_turns_total", "Turns of the gate to another outlet."),
    "lifts": Family("counter", "lifts_total", "Times that the lift brought hands up."),
    "shuffle_passes": Family("counter", "shuffle_passes_total", "Passes of the shuffler."),
    # The lines to the boards.
    "board_up": Family("gauge", "board_up", "Whether the board's session is open.", _BOARD),
    "board_fed": Family(
        "counter",
        "board_life_cards_fed_total",
        "Cards fed in the board's life, as it said when its session began.",
        _BOARD,
    ),
    "board_landed": Family(
        "counter",
        "board_life_cards_landed_total",
        "Cards landed in the board's life, as it said when its session began.",
        _BOARD,
    ),
    "line_junk": Family("counter", "line_junk_frames_total", "Frames that were none.", _BOARD),
    "line_crc_errors": Family(
        "counter", "line_crc_errors_total", "Frames with a wrong checksum.", _BOARD
    ),
    "line_oversize": Family("counter", "line_oversize_frames_total", "Frames too long.", _BOARD),
    "line_malformed": Family(
        "counter", "line_malformed_frames_total", "Frames of a wrong layout.", _BOARD
    ),
    "line_foreign": Family(
        "counter", "line_foreign_frames_total", "Frames of another session.", _BOARD
    ),
    "line_resends": Family("counter", "line_resends_total", "Commands sent once more.", _BOARD),
    "line_duplicates": Family(
        "counter", "line_duplicate_events_total", "Events that came again.", _BOARD
    ),
    "line_gaps": Family(
        "counter", "line_early_events_total", "Events that came too early.", _BOARD
    ),
    "line_lost": Family(
        "counter", "line_lost_events_total", "Events that the board forgot untaken.", _BOARD
    ),
    "line_sessions": Family("counter", "line_sessions_total", "Sessions opened.", _BOARD),
    # How fast, and what waits.
    "route_latency_seconds": Family(
        "histogram",
        "route_latency_seconds",
        "From the bytes that say where a card stands to its ROUTE, in the same read callback.",
    ),
    "journal_write_seconds": Family(
        "histogram",
        "journal_write_seconds",
        "From rows handed over to their commit; durable ones are synced, too.",
        ("durable",),
    ),
    "loop_lag_seconds": Family(
        "histogram", "loop_lag_seconds", "How late the machine's loop came to its timers."
    ),
    "journal_rows_waiting": Family(
        "gauge", "journal_rows_waiting", "Rows handed over and not yet committed."
    ),
    "wire_events_waiting": Family(
        "gauge", "wire_events_waiting", "Board events that are in no row yet."
    ),
    "gateway_unsent_bytes": Family(
        "gauge", "gateway_unsent_bytes", "Bytes for the gateways that they have not read."
    ),
    # The machine's process; the gateway's own has the usual process_ names.
    "machine_start_time_seconds": Family(
        "gauge", "machine_start_time_seconds", "When the machine's process began, in Unix time."
    ),
    "machine_cpu_seconds": Family(
        "counter", "machine_cpu_seconds_total", "CPU time of the machine's process."
    ),
    "machine_resident_memory_bytes": Family(
        "gauge", "machine_resident_memory_bytes", "Memory of the machine's process."
    ),
    # What the gateway sees by itself.
    "machine_up": Family("gauge", "machine_up", "Whether the gateway hears its machine."),
    "phase": Family("gauge", "phase", "1 for the machine's present phase.", ("phase",)),
    "alert": Family("gauge", "alert", "1 for each fault that is up now.", ("fault",)),
    "calls_waiting": Family("gauge", "calls_waiting", "People who wait for the referee."),
    "feed_messages": Family(
        "counter", "feed_messages_total", "Messages put on the feed.", ("topic",)
    ),
    "commands": Family(
        "counter",
        "commands_total",
        "Answers to commands: ok, or the name of the refusal.",
        ("cmd", "answer"),
    ),
    "command_reply_seconds": Family(
        "histogram",
        "command_reply_seconds",
        "From a command's arrival to the machine's answer; some wait for people.",
    ),
    "commands_waiting": Family(
        "gauge", "commands_waiting", "Commands that the machine has not answered yet."
    ),
    "keys_refused": Family(
        "counter",
        "keys_refused_total",
        "Connections with a key not admitted, by the name of the refusal.",
        ("why",),
    ),
    "keys_expiring": Family("gauge", "keys_expiring", "Keys that expire within a week."),
    "connections_cut": Family(
        "counter",
        "connections_cut_total",
        "Times that all clients had to connect anew because a key was taken away or expired.",
    ),
    "orders_refused": Family(
        "counter",
        "orders_refused_total",
        "Signed commands that the machine itself refused for key, role, signature or run.",
        ("why",),
    ),
}

"""Acceptance: is this machine fit to deal, and what wants cleaning, turning or replacing.

It runs beside no machine process, on the two boards of a table, through the same typed drivers:
real ones, or simulated ones, which it cannot tell apart. People do what only hands can.

    limits.py       what is measured, its limits and their reasons (limits.toml)
    figures.py      what came of each: pass, warn, fail, or why it was not measured
    steps.py        what people are asked to do (steps.toml), and whoever does it
    bench.py        the two boards, what they said and when; a host that can fall silent
    quiet.py        the line of such a host
    session.py      one test under way: boards, people, figures, and the attempt that is open
    cards.py        cards fed and sent where a plan says, counted, never seen
    at_rest.py      a machine that stands still: lines, sensors, the boards' own tests, the lid
    stops.py        motion that is to end: a silent host, the emergency stop
    ways.py         each outlet once, the tray, a card that is held, two that stick together
    rounds.py       the whole set again and again, up to hands in the lift
    selftest.py     all of these, one after the other
    report.py       what is left behind: JSON, and a page in English and Chinese
    calibrate.py    one part shown live while somebody turns a screw
    health.py       what a journal tells of wear: a fold, and its thresholds (health.toml)

SELFTEST.md has every figure and every sign of wear with limits and reasons; it is generated.

No face passes: what the reader saw goes into controller/acceptance/read_counts.py, counts come out.
"""

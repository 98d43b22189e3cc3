"""Tests that show whether a machine is fit to deal, and which parts need cleaning or replacement.

No machine process may run at the same time. The tests use the two boards of a table through the
usual typed drivers. The boards may be real or simulated, and the tests do not depend on this.
People do the steps that need hands.

    selftest_figures.py  the figures with their limits (limits.toml), and the result of each
    board_pair.py        the two boards, their events with times, and a host that can fall silent
    selftest_session.py  one running self-test: boards, people, figures, present attempt
    fed_cards.py         cards that are fed and routed by a plan, counted without their faces
    safety_tests.py      lines, sensors, the boards' own tests, lid, silent host, emergency stop
    card_tests.py        each outlet, the tray, a card held by hand, a double feed, rounds
    selftest_run.py      all tests, one after the other
    selftest_report.py   the report: JSON, and a page in English and Chinese
    calibration.py       live figures of one part while a technician adjusts it
    wear_signs.py        wear counted from a journal, and its thresholds (health.toml)

SELFTEST.md contains every figure and every sign of wear, with limits and reasons. It is generated.

No face leaves the tests: controller/acceptance/fed_cards.py receives the reader's looks and
returns only counts.
"""

"""The doctor, which checks whether an installed table has everything that it needs for dealing.

For each problem it reports what to do. Facts are collected first. Pure functions then check the
facts. Tests can therefore check each line of the page with invented facts, and each fact with an
invented /proc and /sys.

    table_facts.py      all facts as values, None if a fact is not available on this computer
    computer_facts.py   facts of the computer and its ports, from /proc, /sys and /run
    doctor_checks.py    checks of Python, release, computer and table, and the list of all checks
    board_checks.py     checks of ports, USB converters, boards and pins
    examination.py      the findings of all checks, each with colour and advice, and the page

Some facts are only collected by the command line: the network, the release's files and the boards
themselves. See controller/cli/doctor.py.
"""

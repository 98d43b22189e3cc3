"""Is everything there that a table needs: what the computer tells, what it means, what to do.

Facts are gathered first and then looked at by pure functions, so that each line of the page is
tested from made-up facts, and each fact from a made-up /proc and /sys.

    finding.py       one line of the page: its light, what is so, what to do
    facts.py         all that is known, as values; None where it cannot be known here
    computer.py      the computer that tells: its /proc, /sys and /run, wherever they lie
    gathering.py     the facts of a computer and of its ports
    of_program.py    Python, the release, the parts that were installed with it
    of_boards.py     ports, boards, adapters, pins
    of_computer.py   clock, disk, memory, supply, heat
    of_table.py      keys, users, services, the feed
    checks.py        all checks in the order of the page, and what it comes to
    page.py          the page, for people and as JSON

What only the command line may ask (the network, the release's files, the boards themselves) is
gathered there: controller/cli/doctor_facts.py.
"""

"""What a test house asks of the randomness of a card machine, and what answers it here.

The clauses stand in the law and the standards of several countries; the words here are ours.
"""

from typing import NamedTuple


class Clause(NamedTuple):
    """One clause: its name, where it is from, what it asks, and what shows it besides tests."""

    name: str
    source: str
    asks: str
    shown: str


CLAUSES = (
    Clause(
        "R1", "GLI-29 2.1.1; AGCO 21.1.1",
        "Results are statistically independent.",
        "The tests of successive deals and of places apart.",
    ),
    Clause(
        "R2", "25 CFR 547.14(b)(1)",
        "Results have the distribution that they should: each combination is equally likely.",
        "The counts below; that every order comes from equally many draws is proved by counting "
        "all of them for small sets (tests/deal/test_sequence.py).",
    ),
    Clause(
        "R3", "N.J.A.C. 13:69E-1.28G(b)3",
        "Recognised tests are passed: chi-square, mono-bit, runs.",
        "Chi-square, runs and pairs below. A mono-bit count has nothing to say: each hand has 27 "
        "cards in every deal.",
    ),
    Clause(
        "R4", "25 CFR 547.14(c)(1)",
        "Nobody can foretell a result, though he knows the method and all results before.",
        "By construction, not by statistics: 32 fresh bytes of the operating system for every "
        "attempt, through SHAKE-256 (controller/deal/PROOF.md 1, 2). No test can show it.",
    ),
    Clause(
        "R5", "Greek technical rules 23.1.1",
        "The generator and the mechanical means are random together.",
        "`--path full` reads deals out of a machine's journal. The tests of the input order show "
        "that the shuffler's part does not matter. A real machine: its own collection.",
    ),
    Clause(
        "R6", "25 CFR 547.14; Greek technical rules 23.1.2; 58 Pa. Code 810a.5(c)",
        "99 %, with the named tests: overlaps, poker, coupon collector, runs, correlations …",
        "The whole family is judged at 99 %, each value is shown at 95 and 99 %.",
    ),
    Clause(
        "R7", "COMAR 36.05.02.17 F",
        "A shuffling device: 95 %, the usual chi-square of fit.",
        "The chi-square of faces and seats, with the correction for drawing without putting back.",
    ),
    Clause(
        "R8", "AGCO 21.1.3",
        "All outcomes can come.",
        "There are 108!/(27!)⁴ = 2^205.9 deals and 2^256 seeds, and the stream carries all of "
        "a seed. That each deal is reached is what SHAKE-256 is trusted for; nobody can try it.",
    ),
    Clause(
        "R9", "25 CFR 547.14(d); N.J.A.C. 13:69E-1.28G(b)5",
        "A stream is not made to come again.",
        "A seed is drawn for one attempt and used once; commitments never come twice.",
    ),
    Clause(
        "R10", "N.J.A.C. 13:69E-1.28G(b)6; 58 Pa. Code 810a.5(d)",
        "Scaling to a range favours no number.",
        "Bytes past the last full run are thrown away (PROOF.md 3): each number comes from equally "
        "many bytes (tests/deal/test_sequence.py).",
    ),
    Clause(
        "R11", "AGCO 21.1.6, 21.1.7",
        "Nobody can find out the seed; what is corrupted begins anew.",
        "Seeds rest under an attempt key in memory alone; without it the attempt is void and a "
        "new seed is drawn (deploy/THREATS.md).",
    ),
    Clause(
        "R12", "N.J.A.C. 13:69E-1.28G(c)",
        "What was selected is used: no second selection.",
        "Attempts are numbered without a gap, and a void after the cut opens its whole record "
        "(`dealtable verify`). This report says how many attempts were given up.",
    ),
    Clause(
        "R13", "15.1.7.13 NMAC B(5)",
        "Nothing from outside has an influence.",
        "Neither the order of the cards nor the reader's verdicts change where a card goes.",
    ),
    Clause(
        "R14", "GLI, RNG testing",
        "Tools that collect raw output and final outcomes with the code of the product.",
        "`dealtable lab collect`: controller.deal.sequence and the ledger deal here as at a table; "
        "the raw data is one file, and LAB.md says what is in it.",
    ),
)  # fmt: skip

"""The simulated table: mechanics, boards, pins and the loop in virtual time."""

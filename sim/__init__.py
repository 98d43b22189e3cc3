"""The simulated table: mechanics, boards, pins, people, and an event loop in virtual time."""

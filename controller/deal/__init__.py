"""Pure functions for one attempt: sequence of pockets, card ledger, 27-lock and state machine."""

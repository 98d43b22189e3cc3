"""One attempt of one deal, as pure functions: sequence, ledger, 27-lock, reducer."""

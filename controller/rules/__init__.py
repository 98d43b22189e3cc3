"""The rulebooks: pure functions, one data file per profile."""

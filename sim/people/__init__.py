"""Simulated people at a table: players, referees and technicians."""

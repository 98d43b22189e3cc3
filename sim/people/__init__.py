"""People at a simulated table."""

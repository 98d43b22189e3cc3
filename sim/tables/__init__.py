"""Whole simulated tables, in one or several processes, for demo, benchmarks and campaigns."""

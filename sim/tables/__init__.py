"""Whole simulated tables, in this process or in several processes, for benches and campaigns."""

"""The statistics lab: statistical tests of many deals, as test houses require them (LAB.md)."""

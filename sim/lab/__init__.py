"""The statistics lab: deals by the thousand, and what a test house asks of them (LAB.md)."""

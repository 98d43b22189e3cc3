"""The statistics lab: tests of thousands of deals, as a test house requires (LAB.md)."""

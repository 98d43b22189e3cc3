"""The statistics lab: collects thousands of deals and runs the tests of a test house (LAB.md)."""

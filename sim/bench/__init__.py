"""The figures of `dealtable bench`, each with its floor from the same run, one file per subject.

figure_registry.py defines a figure and how it is measured.
"""

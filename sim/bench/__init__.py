"""The figures of `dealtable bench`, each beside its floor of the same run; one file a subject.

registry.py    what a figure is, and how it is measured
"""

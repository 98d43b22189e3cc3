"""The figures of `dealtable bench`. Each figure is compared with a floor from the same run.

figure_registry.py defines figures and how to measure them. Each other file measures one subject.
"""

"""The benchmark figures (measured costs) that the command `dealtable bench` prints.

Each figure is compared with its floor: the cost of a simpler task, measured at the same time.
figure_registry.py defines figures and how to measure them. Each other file measures one subject.
"""

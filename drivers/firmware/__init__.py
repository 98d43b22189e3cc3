"""The firmware of both boards, in the subset common to MicroPython and CPython.

The host also uses framing.py and protocol.py.
"""

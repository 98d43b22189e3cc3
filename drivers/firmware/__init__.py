"""The firmware of both boards, in the part of Python that MicroPython and CPython share.

The host also uses framing.py and protocol.py.
"""

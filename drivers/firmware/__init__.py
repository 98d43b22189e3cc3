"""The firmware of both boards, in what MicroPython and CPython have in common.

codec.py and wire.py are the host's too.
"""

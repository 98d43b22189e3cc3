"""The content of the pages, as pure functions of the tables' public states, without clock, socket
or store.
"""

"""A table from outside: its feed and its commands over ZeroMQ, as consoles and tools see them."""

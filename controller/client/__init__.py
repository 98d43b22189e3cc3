"""The client of a table: its feed and its commands over ZeroMQ, as consoles and tools use them."""

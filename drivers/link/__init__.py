"""The reliable link on one serial port, with its specification (PROTOCOL.md) and sample frames."""

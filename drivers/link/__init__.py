"""The reliable link on one serial port: PROTOCOL.md, sample frames, and the host's side."""

"""The reliable link on one serial port: PROTOCOL.md, golden frames, and the host's side."""

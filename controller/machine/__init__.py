"""The machine process: ports, pins, faces, state and journal; no network."""

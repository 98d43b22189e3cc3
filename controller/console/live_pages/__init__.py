"""Pages that are updated while they are open: their parts, streams and viewers."""

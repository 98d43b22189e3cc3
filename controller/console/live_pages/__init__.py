"""Pages that stay open: their parts, their streams and their viewers."""

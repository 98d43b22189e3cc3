"""Pages that stay open: their parts, their streams, and who views them."""

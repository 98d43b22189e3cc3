"""Files for the root of a chip."""

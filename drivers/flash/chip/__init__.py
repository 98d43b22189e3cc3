"""What lies at the root of a chip."""

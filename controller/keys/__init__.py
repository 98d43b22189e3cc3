"""Keys as `dealtable keys` writes them: of a table, of its clients."""

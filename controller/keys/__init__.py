"""The keys of a table and of its clients, as `dealtable keys` writes them."""

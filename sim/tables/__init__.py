"""The table run against its simulator: figures, campaigns, statistics."""

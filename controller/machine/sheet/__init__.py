"""From a match to its score sheet: what its rows say, and what the head and foot say."""

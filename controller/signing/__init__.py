"""What is signed, and how: commands, heads, releases."""

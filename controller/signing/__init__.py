"""The formats of signatures: commands, journal heads and releases."""

"""The vault (the only part that stores faces), and the keys that encrypt secrets on the disk."""

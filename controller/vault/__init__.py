"""The vault: the only part that stores faces, and the keys that encrypt them on the disk."""

"""The vault: the only holder of faces, and of the keys that hide them on the disk."""

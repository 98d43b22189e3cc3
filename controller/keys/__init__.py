"""The key files of a table and of its clients: creation, admission, renewal and revocation."""

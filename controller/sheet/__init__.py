"""The score sheet (记分表): as values for the socket (form.py), and as a printed page."""

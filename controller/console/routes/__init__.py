"""The routes of the console, by subject. server.py mounts the ROUTES of each module."""

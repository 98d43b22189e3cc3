"""The routes of the console, by subject. app.py mounts the ROUTES of each module."""

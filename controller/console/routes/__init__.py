"""The routes of the console, by subject. server.py adds the ROUTES of each module to the server."""

"""What the console answers, by subject; a module's ROUTES are mounted (app.py)."""

"""The score sheet (记分表) of a match, as data (form.py) and as a page (printed_sheet.py)."""

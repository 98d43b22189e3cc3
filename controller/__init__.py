"""The program of a table: rules, deals, journal, processes and command line."""

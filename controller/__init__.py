"""The program that controls a table: rules, deals, journal, processes and command line."""

"""Everything that decides: rules, deals, journal, the processes and the command line."""

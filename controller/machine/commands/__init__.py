"""Commands: who may give which command and when, and what the match makes of it.

command_processor.py receives every command. match_commands.py tries the commands of the match, and
command_events.py turns them into events. table_commands.py carries out the commands of the machine.
"""

"""The commands of a table: their checks, their execution, and the match events that they cause.

command_processor.py receives every command. match_commands.py tries the commands of the match, and
command_events.py turns them into events. table_commands.py carries out the commands of the machine.
"""

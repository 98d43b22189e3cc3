"""The referees' console: one list of who waits, a page for every table, every command in reach.

It knows what the tables' feeds say and nothing else; a process of its own, usually on another
computer. Its pure part is `view`: what people see, as functions of the tables' public states.
"""

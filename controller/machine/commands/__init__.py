"""Orders: who may give which and when, and what those about the match mean.

desk.py takes every command in; match_desk.py has those of the match, match_orders.py,
ruling_orders.py and card_orders.py what each of them means. What the machine itself does on
an order stands above all of this, in controller/machine/commands/table_commands.py.
"""

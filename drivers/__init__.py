"""Everything that touches hardware: the boards behind serial lines, and the panel.

dealer.py and reader.py are the two boards as typed objects; events.py what they
report, errors.py everything that may be raised, identity.py who answered and who
should. link/ is the reliable link under them, firmware/ the boards' own programs.
Nothing here knows of the controller.
"""

"""The physical machine: cards, motors and sensors, moving in time.

This is the truth that judges the controller. Sensors are derived from where cards
physically are, never from what was asked, and nothing here knows what a board or
the controller believes.
"""

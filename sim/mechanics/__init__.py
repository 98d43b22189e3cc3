"""The simulated machine: its cards, motors and sensors, with the time that each motion needs.

The true positions here show whether the controller is right. Sensor values come from the physical
positions of the cards, never from what a board requested. No module here depends on the state of a
board or the controller.
"""

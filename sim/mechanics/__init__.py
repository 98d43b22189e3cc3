"""The physical machine: cards, motors and sensors that move in time.

The controller is judged against these true positions. Sensor values come from the physical
positions of the cards, never from what a board requested. No module here depends on the state of a
board or the controller.
"""

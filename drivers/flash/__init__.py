"""Tools that write new firmware to a board, test it there, and then remove the old firmware.

firmware_image.py has the files to write, micropython_prompt.py MicroPython's prompt (through
mpremote), and flasher.py the queries to a running firmware and the steps of a flash. chip/ has the
files for the root of a chip.
"""

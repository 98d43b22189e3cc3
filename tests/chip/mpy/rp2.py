"""A chip's `rp2` for MicroPython's unix port: state machines that make no step."""


class PIO:
    OUT_LOW, SHIFT_RIGHT = 0, 1


def asm_pio(**options):
    return lambda program: program


class StateMachine:
    def __init__(self, number, program, freq=0, set_base=None):
        pass

    def init(self, program, freq=0, set_base=None):
        pass

    def active(self, value=None):
        return False

    def put(self, word):
        pass


class DMA:
    def pack_ctrl(self, size=0, inc_write=False, treq_sel=0):
        return treq_sel

    def config(self, read=None, write=None, count=0, ctrl=0, trigger=False):
        pass

    def active(self, value):
        pass


def bootsel_button():
    return 0

"""A loop that asks the port for bytes a hundred times a second, as many controllers do."""

import time

import serial

from tests.peers.answering import BAUD, Answering, main

_EVERY_S = 0.01


def poll(pty: str) -> None:
    answering = Answering()
    with serial.Serial(pty, BAUD, timeout=0) as port:
        port.write(answering.hello())
        while True:
            if said := port.read(port.in_waiting):
                port.write(answering(said))
            time.sleep(_EVERY_S)  # noqa: TID251 that is what it is


if __name__ == "__main__":
    main("polling every 10 ms", ["pyserial"], poll)

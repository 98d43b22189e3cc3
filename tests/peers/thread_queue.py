"""A thread reads and puts what it has read into a queue; another one takes it out and answers."""

import queue
import threading  # noqa: TID251 that is what it is

import serial

from tests.peers.answering import BAUD, Answering, main


def hand_over(pty: str) -> None:
    said: queue.Queue[bytes] = queue.Queue()
    answering = Answering()
    with serial.Serial(pty, BAUD) as port:
        threading.Thread(target=_read, args=(port, said), daemon=True).start()
        port.write(answering.hello())
        while True:
            if answer := answering(said.get()):
                port.write(answer)


def _read(port: serial.Serial, said: "queue.Queue[bytes]") -> None:
    while True:
        first = port.read(1)
        said.put(first + port.read(port.in_waiting))


if __name__ == "__main__":
    main("thread and queue", ["pyserial"], hand_over)

"""Another way to a serial port: the loop brings bytes to a protocol of pyserial-asyncio-fast."""

import asyncio

import serial_asyncio_fast

from tests.peers.answering import BAUD, Answering, main


class _Board(asyncio.Protocol):
    def __init__(self) -> None:
        self._answering = Answering()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport | asyncio.Transport)
        self._transport = transport
        transport.write(self._answering.hello())

    def data_received(self, data: bytes) -> None:
        if answer := self._answering(data):
            self._transport.write(answer)


def listen(pty: str) -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(
        serial_asyncio_fast.create_serial_connection(loop, _Board, pty, baudrate=BAUD)
    )
    loop.run_forever()


if __name__ == "__main__":
    main("a protocol in the loop", ["pyserial-asyncio-fast"], listen)

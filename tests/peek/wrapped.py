"""A `dealtable` with a hole: it does what the real one does, and tells what a test wants it to.

Started as `python wrapped.py run machine …`. At SIGUSR1 it reads the file that PEEK_PLANTS names, a
list of [place, texts in base64], and lets them out at that place: through the objects of the
running process that serve it. At SIGUSR2 it says the `repr` of all its values, and fails. Nothing
of the product knows of this.
"""

import base64
import contextlib
import gc
import json
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import structlog

T = TypeVar("T")
Texts = list[bytes]
BETWEEN = b"\0" * 8
"""Between two texts, so that neither is taken for a part of the other."""
_A_MESSAGE = 50
_AGAIN_S = 0.5
_held: list[object] = []
"""What is to stay in memory."""


def is_text(said: bytes) -> bool:
    """Tell whether this may stand in a text."""
    try:
        return "\0" not in said.decode()
    except UnicodeDecodeError:
        return False


def _one(kind: type[T]) -> T:
    """Return the object of a kind that this process works with."""
    gc.unfreeze()  # what a machine was built of is frozen
    return next(each for each in gc.get_objects() if type(each) is kind)


def _at_socket(texts: Texts) -> None:
    """Tell every gateway some lines more than are public."""
    from controller.machine.gateway_socket import GatewaySocket

    lines = (
        b'{"to":"feed","topic":"event/T01","body":{"planted":"%s"}}\n' % text for text in texts
    )
    said = b"".join(lines)
    for gateway in list(_one(GatewaySocket).connections):
        assert gateway._transport is not None
        gateway._transport.write(said)


def _on_feed(texts: Texts) -> None:
    """Publish events that have one field more, and such as are no JSON, for what is no text."""
    from controller.client.connection import send_or_drop
    from controller.gateway.feed_socket import FeedSocket

    bodies = []
    for at in range(0, len(texts), _A_MESSAGE):
        said = [text.decode() for text in texts[at : at + _A_MESSAGE] if is_text(text)]
        other = BETWEEN.join(text for text in texts[at : at + _A_MESSAGE] if not is_text(text))
        bodies.append(json.dumps({"planted": said}, ensure_ascii=False).encode())
        bodies.append(b'{"planted":"' + other + b'"}')
    for body in bodies:
        send_or_drop(_one(FeedSocket).socket, [b"event/T01", body])


def _on_network(texts: Texts) -> None:
    """Write on every connection of a client in the open, as a gateway without CURVE would."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(name))) as line:
            listens = line.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if line.family == socket.AF_INET and not listens:
                line.send(BETWEEN.join(texts))


def _at_pins(texts: Texts) -> None:
    """Say it to whoever moves the pins, who passes over what is no line of his."""
    from sim.pin_factories import SocketFactory

    line = _one(SocketFactory)._sock
    line.setblocking(True)
    for text in texts:
        line.sendall(BETWEEN + text + BETWEEN + b"\n")
    line.setblocking(False)


def _in_journal(texts: Texts) -> None:
    """Write it into the journal's file beside the rows."""
    with sqlite3.connect(_state_dir() / "journal.db") as base:
        base.execute("CREATE TABLE planted(body BLOB)")
        base.executemany("INSERT INTO planted VALUES (?)", ((BETWEEN + each,) for each in texts))


def _in_free_pages(texts: Texts) -> None:
    """Write it into the journal's file and take it out again, which leaves it there."""
    with sqlite3.connect(_state_dir() / "journal.db") as base:
        base.execute("PRAGMA secure_delete = OFF")  # which some systems' SQLite has on
        base.execute("CREATE TABLE gone(body BLOB)")
        base.executemany("INSERT INTO gone VALUES (?)", ((BETWEEN + each,) for each in texts))
        base.commit()
        base.execute("DROP TABLE gone")
        base.commit()
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _in_rows(texts: Texts) -> None:
    """Write entries that say it."""
    from controller.machine.table_record import TableRecord

    record = _one(TableRecord)
    for text in texts:
        record.write("planted", {"said": text.decode()}, public=False)
    record.journal.flush()


def _in_state_dir(texts: Texts) -> None:
    _append(_state_dir() / "notes.txt", texts)


def _in_runtime_dir(texts: Texts) -> None:
    _append(_config().table.runtime_dir / "notes.txt", texts)


def _in_endpoints(texts: Texts) -> None:
    """Say where the gateway is, and more behind it."""
    _append(_state_dir() / "endpoints.json", texts)


def _in_log(texts: Texts) -> None:
    """Log it; what cannot be text goes out as a library's own message would."""
    for text in texts:
        try:
            structlog.get_logger("planted").warning("planted", text=text.decode())
        except UnicodeDecodeError:
            os.write(2, BETWEEN + text + BETWEEN + b"\n")


def _in_memory(texts: Texts) -> None:
    _held.extend(bytes(bytearray(text)) for text in texts)
    texts.clear()


def _in_lists(texts: Texts) -> None:
    """Keep it in memory as lists: of letters, or of numbers."""
    _held.extend([chr(byte) for byte in text] if text.isalpha() else list(text) for text in texts)


def _in_metrics(texts: Texts) -> None:
    """Answer every scrape with some comments more."""
    from controller.gateway.metrics_endpoint import MetricsEndpoint

    scrapes = _one(MetricsEndpoint)
    real = scrapes._render

    async def more() -> tuple[bytes, str]:
        body, kind = await real()
        return body + b"".join(b'# "' + text + b'"\n' + BETWEEN for text in texts), kind

    scrapes._render = more


def _in_sheet(texts: Texts) -> None:
    """Have every score sheet say it."""
    from controller.machine.machine import TableMachine

    front: Any = _one(TableMachine).match_commands
    said = [text.decode() for text in texts]
    front.score_sheet = lambda *args: {"planted": said}


def _in_repr(texts: Texts) -> None:
    """Have a value of the program whose `repr` tells it, and say the `repr` of all there are."""
    from controller.messages import RefereeCall

    _held.extend(RefereeCall(seat=None, reason=text.decode(), since="") for text in texts)
    say_everything()


def _in_traceback(texts: Texts) -> None:
    """Fail in the middle of the loop's work with a message that tells it."""
    fail("\n.\n".join(text.decode() for text in texts))


def fail(said: str) -> NoReturn:
    """Fail, and again until the process ends of it: a callback's failure would only be logged."""

    def once_more(*_: object) -> NoReturn:
        raise RuntimeError(said)

    signal.signal(signal.SIGALRM, once_more)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, _AGAIN_S)
    raise RuntimeError(said)


def say_everything() -> None:
    """Say the `repr` of every value of this program to stderr."""
    gc.unfreeze()
    for each in [*gc.get_objects(), *_held]:
        if type(each).__module__.startswith(("controller.", "drivers.")):
            os.write(2, repr(each).encode("utf-8", "replace") + b"\n")


PLANTS: dict[str, Callable[[Texts], None]] = {
    "the machine's socket": _at_socket,
    "frames of a client": _on_feed,
    "the network": _on_network,
    "the pins' socket": _at_pins,
    "the journal's file": _in_journal,
    "free pages": _in_free_pages,
    "rows": _in_rows,
    "the state directory": _in_state_dir,
    "the runtime directory": _in_runtime_dir,
    "endpoints.json": _in_endpoints,
    "logs": _in_log,
    "the gateway's memory": _in_memory,
    "lists": _in_lists,
    "metrics": _in_metrics,
    "score sheets": _in_sheet,
    "repr": _in_repr,
    "tracebacks": _in_traceback,
}


def _append(path: Path, texts: Texts) -> None:
    with path.open("ab") as file:
        file.write(BETWEEN + BETWEEN.join(texts) + BETWEEN)


def _config() -> Any:
    from controller.config import load_table

    return load_table(Path(sys.argv[sys.argv.index("--config") + 1]))


def _state_dir() -> Path:
    folder: Path = _config().table.state_dir
    return folder


def _say_all_and_fail(*_: object) -> None:
    say_everything()
    fail("as told")


def _plant(*_: object) -> None:
    """Let out what the file names for this process, one place after the other."""
    file = Path(os.environ["PEEK_PLANTS"])
    for place, texts in json.loads(file.read_text()):
        PLANTS[place]([base64.b64decode(text) for text in texts])
        with file.with_suffix(".done").open("a") as done:
            done.write(place + "\n")


if __name__ == "__main__":
    from controller.cli import main

    signal.signal(signal.SIGUSR1, _plant)
    signal.signal(signal.SIGUSR2, _say_all_and_fail)
    main()

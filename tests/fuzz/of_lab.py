"""The statistics lab's file: deals, or one printable line."""

import io
import zipfile
from functools import cache

from sim.lab.collected_deals import CollectedDeals, InvalidDeals, check_deals, read_deals
from tests.fuzz.refusals import one_line
from tests.fuzz.targets import CORPUS

_ARRAYS = ("cards", "waiting", "seats", "verdicts", "collected", "follows", "source")


def deals_file(data: bytes) -> None:
    """A file of deals; and a right one in which an array is what the input says.

    The sums of a zip keep most changes of a file from being looked at: so arrays are packed
    anew. The input's first byte says which.
    """
    _taken(data)
    if data:
        _taken(_with(_ARRAYS[data[0] % len(_ARRAYS)], data[1:]))


def _taken(data: bytes) -> None:
    try:
        deals = read_deals(io.BytesIO(data))
    except InvalidDeals as error:
        one_line(error)
        return
    assert isinstance(deals, CollectedDeals)
    check_deals(deals)


def _with(name: str, array: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for each, raw in (_right() | {f"{name}.npy": array}).items():
            archive.writestr(each, raw)
    return out.getvalue()


@cache
def _right() -> dict[str, bytes]:
    with zipfile.ZipFile(CORPUS / "deals_file" / "two_deals") as archive:
        return {name: archive.read(name) for name in archive.namelist()}

"""Heads of a table's journal, as its states show them: kept where the table has signed them."""

from controller import heads
from controller.console.config import ConfiguredTable
from controller.console.lines.taken import is_storable_head
from controller.heads import KeptHead
from controller.messages import SignedHead


def check_signed_head(
    configured: ConfiguredTable, time: str, signed: SignedHead
) -> KeptHead | None:
    """Return a head as it is kept; None where it is none, or not of the table's key.

    `time`: of the state that showed it. Where nobody has entered the table's key it is believed.
    """
    if not is_storable_head(signed, time):
        return None
    verify = None if configured.verify is None else bytes.fromhex(configured.verify)
    if verify is not None and not heads.is_signed_by(signed, configured.server_key, verify):
        return None
    return KeptHead(
        table=configured.id,
        table_key=configured.server_key,
        n=signed.n,
        head=signed.head,
        sig=signed.sig,
        time=time,
    )

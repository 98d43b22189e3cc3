"""Signed heads: the machine signs its journal at each change of its phase (controller/heads.py)."""

from controller.heads import sign_head
from controller.messages import MachinePhase, SignedHead

SyncedHead = tuple[int, bytes]
"""The number of an entry that outlives a power cut, and the journal's head behind it."""


class PhaseHeads:
    """`latest` is the head at the last change of the phase, signed; None before the first.

    `secret` is the table's 32-byte Ed25519 secret; without it nothing is signed. Only what is
    synced is signed: a head that a power cut can take back would show an honest table as one
    that wrote its past anew.
    """

    def __init__(self, table_key: str, secret: bytes | None) -> None:
        self._table_key, self._secret = table_key, secret
        self._phase: MachinePhase | None = None
        self.latest: SignedHead | None = None

    def on_phase(self, phase: MachinePhase, synced: SyncedHead | None) -> None:
        """Sign the newest synced head where the phase that people see is another one."""
        if self._secret is None or synced is None or phase is self._phase:
            return
        self._phase = phase
        n, head = synced
        if self.latest is None or self.latest.n != n:
            self.latest = sign_head(self._table_key, n, head, self._secret)

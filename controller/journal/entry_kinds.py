"""The kinds of entries: which are public, what their data holds, what must come before.

One table, for the machine that writes them, for `verify` that reads them, and for the
schemas of what is public. What each holds is said in data.py.
"""

from typing import NamedTuple

from controller.journal import attempt_entries as of
from controller.journal.attempt_entries import EntryData


class EntryKind(NamedTuple):
    """A kind of entry. `data` is what it holds.

    `after` are the kinds of the same attempt that must all stand before it;
    `once` says that an attempt has at most one.
    """

    public: bool
    data: type[EntryData]
    after: tuple[str, ...] = ()
    once: bool = False

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The fields that its data cannot be without."""
        return of.required_fields(self.data)


PUBLIC, PRIVATE, ONCE = True, False, True

ENTRY_KINDS: dict[str, EntryKind] = {
    "opened": EntryKind(PUBLIC, of.OpenedData),
    # An attempt, in the order of its steps.
    "seed": EntryKind(PRIVATE, of.SeedData, (), ONCE),
    "committed": EntryKind(PUBLIC, of.CommittedData, ("seed",), ONCE),
    "cut": EntryKind(PUBLIC, of.CutData, ("committed",), ONCE),
    "begun": EntryKind(PUBLIC, of.BegunData, ("cut",), ONCE),
    "shuffled": EntryKind(PUBLIC, of.ShuffledData, ("begun",), ONCE),
    "wire": EntryKind(PRIVATE, of.WireData),
    "dealt": EntryKind(PUBLIC, of.DealtData, ("shuffled",), ONCE),
    "held": EntryKind(PUBLIC, of.HeldData, ("dealt",), ONCE),
    "hands_box": EntryKind(PRIVATE, of.HandsBoxData, ("dealt",), ONCE),
    "verdict": EntryKind(PUBLIC, of.VerdictData, ("seed",), ONCE),
    "released": EntryKind(PUBLIC, of.ReleasedData, ("held", "verdict"), ONCE),
    "sealed_to_chief": EntryKind(PUBLIC, of.SealedToChiefData, ("committed",), ONCE),
    "revealed": EntryKind(PUBLIC, of.RevealedData, ("committed", "verdict"), ONCE),
    "withdrawn": EntryKind(PUBLIC, of.WithdrawnData, ("held", "verdict"), ONCE),
    "record": EntryKind(PUBLIC, of.RecordData, ("verdict",), ONCE),
    "recalled": EntryKind(PUBLIC, of.RecalledData, ("released",), ONCE),
    # A match.
    "meeting": EntryKind(PUBLIC, of.MeetingData),
    "match": EntryKind(PUBLIC, of.MatchData),
    "match_kept": EntryKind(PRIVATE, of.MatchData),
    "match_told": EntryKind(PUBLIC, of.MatchToldData),
    "transferred": EntryKind(PUBLIC, of.TransferredData),
    "taken_over": EntryKind(PUBLIC, of.TakenOverData),
    "opened_hand": EntryKind(PUBLIC, of.OpenedHandData),
    # People and the machine: each pause ends by itself.
    "command_kept": EntryKind(PRIVATE, of.CommandKeptData),
    "command": EntryKind(PUBLIC, of.CommandData),
    "answer": EntryKind(PRIVATE, of.AnswerData),
    "call": EntryKind(PUBLIC, of.CallData),
    "call_ended": EntryKind(PUBLIC, of.CallEndedData),
    "pause": EntryKind(PUBLIC, of.PauseData),
    "pause_ended": EntryKind(PUBLIC, of.PauseEndedData),
    "acknowledged": EntryKind(PUBLIC, of.AcknowledgedData),
    "set_loaded": EntryKind(PUBLIC, of.SetLoadedData),
    "set_cleared": EntryKind(PUBLIC, of.SetClearedData),
    "fault": EntryKind(PUBLIC, of.FaultData),
    "fault_cleared": EntryKind(PUBLIC, of.FaultClearedData),
}
"""Kinds this program writes. A journal may hold others, of a later version."""

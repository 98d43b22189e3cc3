"""The kinds of entries: which are public, what their data holds, what must come before.

One table, for the machine that writes them, for `verify` that reads them, and for the
schemas of what is public. What each holds is said in data.py.
"""

from typing import NamedTuple

from controller.journal import data as of
from controller.journal.data import Data


class Kind(NamedTuple):
    """A kind of entry. `data` is what it holds.

    `after` are the kinds of the same attempt that must all stand before it;
    `once` says that an attempt has at most one.
    """

    public: bool
    data: type[Data]
    after: tuple[str, ...] = ()
    once: bool = False

    @property
    def always(self) -> tuple[str, ...]:
        """The fields that its data cannot be without."""
        return of.always(self.data)


PUBLIC, PRIVATE, ONCE = True, False, True

KINDS: dict[str, Kind] = {
    "opened": Kind(PUBLIC, of.OpenedData),
    # An attempt, in the order of its steps.
    "seed": Kind(PRIVATE, of.SeedData, (), ONCE),
    "committed": Kind(PUBLIC, of.CommittedData, ("seed",), ONCE),
    "cut": Kind(PUBLIC, of.CutData, ("committed",), ONCE),
    "begun": Kind(PUBLIC, of.BegunData, ("cut",), ONCE),
    "shuffled": Kind(PUBLIC, of.ShuffledData, ("begun",), ONCE),
    "wire": Kind(PRIVATE, of.WireData),
    "dealt": Kind(PUBLIC, of.DealtData, ("shuffled",), ONCE),
    "held": Kind(PUBLIC, of.HeldData, ("dealt",), ONCE),
    "hands_box": Kind(PRIVATE, of.HandsBoxData, ("dealt",), ONCE),
    "verdict": Kind(PUBLIC, of.VerdictData, ("seed",), ONCE),
    "released": Kind(PUBLIC, of.ReleasedData, ("held", "verdict"), ONCE),
    "sealed_to_chief": Kind(PUBLIC, of.SealedToChiefData, ("committed",), ONCE),
    "revealed": Kind(PUBLIC, of.RevealedData, ("committed", "verdict"), ONCE),
    "withdrawn": Kind(PUBLIC, of.WithdrawnData, ("held", "verdict"), ONCE),
    "record": Kind(PUBLIC, of.RecordData, ("verdict",), ONCE),
    "recalled": Kind(PUBLIC, of.RecalledData, ("released",), ONCE),
    # A match.
    "meeting": Kind(PUBLIC, of.MeetingData),
    "match": Kind(PUBLIC, of.MatchData),
    "match_kept": Kind(PRIVATE, of.MatchData),
    "match_told": Kind(PUBLIC, of.MatchToldData),
    "transferred": Kind(PUBLIC, of.TransferredData),
    "taken_over": Kind(PUBLIC, of.TakenOverData),
    "opened_hand": Kind(PUBLIC, of.OpenedHandData),
    # People and the machine: each pause ends by itself.
    "command_kept": Kind(PRIVATE, of.CommandKeptData),
    "command": Kind(PUBLIC, of.CommandData),
    "answer": Kind(PRIVATE, of.AnswerData),
    "call": Kind(PUBLIC, of.CallData),
    "call_ended": Kind(PUBLIC, of.CallEndedData),
    "pause": Kind(PUBLIC, of.PauseData),
    "pause_ended": Kind(PUBLIC, of.PauseEndedData),
    "acknowledged": Kind(PUBLIC, of.AcknowledgedData),
    "set_loaded": Kind(PUBLIC, of.SetLoadedData),
    "set_cleared": Kind(PUBLIC, of.SetClearedData),
    "fault": Kind(PUBLIC, of.FaultData),
    "fault_cleared": Kind(PUBLIC, of.FaultClearedData),
}
"""Kinds this program writes. A journal may hold others, of a later version."""

"""The public messages of a table: public state, public events, commands and replies.

Programs of other people depend on these types; `dealtable schema` prints them as JSON Schema. No
type here can contain a face that the rules do not make public.
"""

from controller.messages.command_messages import ClientCommand as ClientCommand
from controller.messages.command_messages import CommandReply as CommandReply
from controller.messages.command_messages import Failure as Failure
from controller.messages.command_messages import Message as Message
from controller.messages.command_messages import Offer as Offer
from controller.messages.command_messages import PersonName as PersonName
from controller.messages.command_messages import Role as Role
from controller.messages.command_messages import Seat as Seat
from controller.messages.command_messages import Side as Side
from controller.messages.match_messages import HandDuties as HandDuties
from controller.messages.match_messages import PublicAreaStop as PublicAreaStop
from controller.messages.match_messages import PublicChoices as PublicChoices
from controller.messages.match_messages import PublicMatch as PublicMatch
from controller.messages.match_messages import PublicMatchClock as PublicMatchClock
from controller.messages.match_messages import PublicPair as PublicPair
from controller.messages.match_messages import PublicRuling as PublicRuling
from controller.messages.match_messages import PublicScore as PublicScore
from controller.messages.match_messages import PublicSeatClock as PublicSeatClock
from controller.messages.match_messages import PublicVerdict as PublicVerdict
from controller.messages.match_messages import SheetSigner as SheetSigner
from controller.messages.match_messages import Tribute as Tribute
from controller.messages.match_messages import TributePayment as TributePayment
from controller.messages.match_messages import TributeReturn as TributeReturn
from controller.messages.match_messages import VerbalCorrection as VerbalCorrection
from controller.messages.table_messages import SCHEMA_VERSION as SCHEMA_VERSION
from controller.messages.table_messages import Alert as Alert
from controller.messages.table_messages import AttemptOutcome as AttemptOutcome
from controller.messages.table_messages import CardSetState as CardSetState
from controller.messages.table_messages import ConnectedBoard as ConnectedBoard
from controller.messages.table_messages import Fairness as Fairness
from controller.messages.table_messages import Firmware as Firmware
from controller.messages.table_messages import LandedCards as LandedCards
from controller.messages.table_messages import MachinePhase as MachinePhase
from controller.messages.table_messages import ProgramRelease as ProgramRelease
from controller.messages.table_messages import PublicEvent as PublicEvent
from controller.messages.table_messages import PublicMachine as PublicMachine
from controller.messages.table_messages import PublicState as PublicState
from controller.messages.table_messages import ReaderTrigger as ReaderTrigger
from controller.messages.table_messages import RefereeCall as RefereeCall
from controller.messages.table_messages import ReportedBoards as ReportedBoards
from controller.messages.table_messages import Reveal as Reveal
from controller.messages.table_messages import SignedHead as SignedHead
from controller.messages.table_messages import TableCounters as TableCounters

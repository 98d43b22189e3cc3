"""People at one machine, `PeopleAtMachine`, who handle its cards and may leave cards in it."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from drivers.firmware.protocol import FROM_TRAY, HOPPER
from sim.mechanics.cards import SET_FAULTS, Cards, PhysicalCard, alter_set
from sim.mechanics.fault_effects import FaultInjector
from sim.mechanics.fault_menu import SimulatedFault
from sim.mechanics.machine_parts import MachineParts
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.mechanics.pockets import TRAY
from sim.mechanics.sensors import OUTLETS
from sim.mechanics.truth import Truth

# The functions that leave cards at each place of the machine. "pocket" is not a place of the menu,
# but the place of `left_in_pocket`.
_PUT_CARDS: dict[str, Callable[[MachineParts, int, Cards], None]] = {
    "feeder": lambda parts, pocket, cards: parts.feeders[HOPPER].place_by_hand(cards),
    "tray_feeder": lambda parts, pocket, cards: parts.pockets.add_by_hand(TRAY, cards),
    "window": lambda parts, pocket, cards: parts.window.place_by_hand(cards, in_gate=False),
    "gate": lambda parts, pocket, cards: parts.window.place_by_hand(cards, in_gate=True),
    "landing": lambda parts, pocket, cards: parts.pockets.stick_in_chute(pocket, cards),
    "shuffler": lambda parts, pocket, cards: parts.shuffler.place_by_hand(cards),
    "lift": lambda parts, pocket, cards: parts.pockets.floor.extend(cards),
    "pocket": lambda parts, pocket, cards: parts.pockets.add_by_hand(pocket, cards),
}
# The functions that return the cards at these places.
_CARDS_AT: dict[str, Callable[[MachineParts, int], Sequence[PhysicalCard]]] = {
    "feeder": lambda parts, pocket: parts.feeders[HOPPER].path,
    "tray_feeder": lambda parts, _: (*parts.pockets.stacks[TRAY], *parts.feeders[FROM_TRAY].path),
    "window": lambda parts, pocket: parts.window.cards,
    "gate": lambda parts, pocket: parts.window.cards,
    "landing": lambda parts, pocket: parts.pockets.stuck[pocket],
    "shuffler": lambda parts, pocket: parts.shuffler.cards,
    "lift": lambda parts, pocket: parts.pockets.floor,
    "pocket": lambda parts, pocket: parts.pockets.stacks[pocket],
}
# These places have room for one card, or one set, at a time.
_SINGLE_PLACES = ("feeder", "window", "gate", "shuffler")


# The times that a person needs to open or close the lid, and to gather the cards.
LID_MS = 300.0
GATHER_MS = 700.0


class OutOfReach(ValueError):
    """Error for an action that people at the machine cannot do now.

    The message is one line with the reason.
    """


class PeopleAtMachine:
    """The people at one machine, with the cards outside the machine.

    Each method is one action with the cards or the lid. `hands`: cards that the four players took.
    `table`: cards that were laid down as played. `beside`: sets of cards beside the machine.
    `backs`: the backs of the sets, by name. `box`: cards out of play. People recognise a set by its
    back only. Cards mixed into another pile stay there until a person sorts them. People who empty
    the machine also clear jams and turn every card face down.
    """

    def __init__(
        self, parts: MachineParts, injector: FaultInjector, settings: MechanicsSettings
    ) -> None:
        self._parts, self._injector = parts, injector
        injector.reload_hopper = self.reload_hopper
        self.cards_per_set, self._faces = settings.cards_per_set, settings.faces
        self.backs = {card_set.name: card_set.back for card_set in settings.sets}
        self.hands: tuple[list[PhysicalCard], ...] = tuple([] for _ in range(TRAY))
        self.table: list[PhysicalCard] = []
        self.beside: dict[str, list[PhysicalCard]] = {name: [] for name in self.backs}
        self.box: list[PhysicalCard] = []

    def truth(self) -> Truth:
        """Return the true position of every card, in the machine and in people's piles."""
        parts, pockets, tally = self._parts, self._parts.pockets, self._parts.tally
        return Truth(
            hopper=tuple(parts.hopper),
            shuffler=parts.shuffler.cards,
            feeder=sum((feeder.path for feeder in parts.feeders), ()),
            window=parts.window.cards,
            path=sum(pockets.falling, ()) + sum(pockets.stuck, ()),
            pockets=tuple(map(tuple, pockets.stacks)),
            floor=tuple(pockets.floor),
            hands=tuple(map(tuple, self.hands)),
            table=tuple(self.table),
            beside={name: tuple(pile) for name, pile in self.beside.items()},
            box=tuple(self.box),
            gate=parts.gate.position,
            lift_up=parts.lift.is_up,
            lift_down=parts.lift.is_down,
            lid_open=parts.lid_open,
            estop=parts.estop,
            passes=parts.shuffler.passes,
            arrived=tally.arrived,
            landed=tally.landed,
            feeding_ms=tally.feeding_ms,
            first_feed_s=tally.first_feed_s,
            last_landing_s=tally.last_landing_s,
        )

    def unpack(self) -> None:
        """Put the first set of cards into the hopper and lay the other sets beside the machine."""
        first, *others = self.backs
        count, faces = self.cards_per_set, self._faces
        self.fill_hopper(self._parts.new_set(count, self.backs[first], faces))
        for name in others:
            self.beside[name] += self._parts.new_set(count, self.backs[name], faces)

    def take_hands(self) -> None:
        """Give each player the cards of the pocket that belongs to the player's seat.

        Raises OutOfReach if the lift is not up.
        """
        if not self._parts.lift.is_up:
            raise OutOfReach("the pockets are not up: the hands are out of reach")
        left = self._parts.faults.strike("left_in_pocket", rate=0.0)
        for seat, hand in enumerate(self.hands):
            taken = self._parts.pockets.empty(seat)
            if left is not None and left.pocket == seat and taken:
                taken = self._leave_card(left, taken)
            hand.extend(taken)

    def lay_down(self) -> None:
        """Move the cards of all players from their hands to the table, as after play."""
        for hand in self.hands:
            self.table += _face_down(hand)
            hand.clear()

    def gather(self, card_set: str) -> None:
        """Move all cards from the table to the pile of set `card_set` beside the machine.

        Raises OutOfReach if no card was played, or if most backs are those of another set.
        """
        if not self._is_mostly(self.table, card_set):
            raise OutOfReach(f"set {card_set} is not on the table")
        self.beside[card_set] += self.table
        self.table.clear()

    def load(self, card_set: str | None = None) -> None:
        """Put set `card_set` (None: the cards in the hands and on the table) into the hopper.

        A named set is taken from beside the machine and from the played cards, never from the
        players' hands. Raises OutOfReach if the set is not there or the hopper is not free.
        """
        if card_set is None:
            self.fill_hopper(self._take_all(*self.hands, self.table))
            return
        self._require_set(card_set)
        if self._parts.feeders[HOPPER].is_occupied or self._parts.shuffler.cards:
            raise OutOfReach("the hopper is not free: it contains other cards")
        self.fill_hopper(self._take_set(card_set))

    def mix(self, card_set: str, n: int) -> None:
        """Move `n` random cards of the set `card_set` into another set, as people do by mistake.

        The other set is the first in `backs` that is not `card_set`. Both piles must be beside the
        machine, on the table or in the hopper. Raises OutOfReach otherwise.
        """
        pile = self._pile_of(card_set)
        others = [self._pile_of(name) for name in self.backs if name != card_set]
        if not others or not 0 < n <= len(pile):
            raise OutOfReach(f"there are no {n} cards to mix into another set")
        for _ in range(n):
            strayed = pile.pop(self._parts.rng.randrange(len(pile)))
            others[0].insert(self._parts.rng.randrange(len(others[0])), strayed)
        self._parts.hopper_changed()

    async def collect(self, card_set: str | None = None) -> None:
        """Open the lid, put set `card_set` (None: all cards) into the hopper, and close the lid.

        With None, all cards of the machine, the hands and the table are moved. With a name, the
        cards of the machine and of that set's pile are moved, sorted by their backs. A card with
        another back goes to its own set beside the machine, or into the box.
        """
        if card_set is not None:
            self._back_of(card_set)
        async with self._lid_open():
            cards = self.empty_machine()
            if card_set is None:
                self.fill_hopper((*cards, *_face_down(self._take_all(*self.hands, self.table))))
                return
            cards, back = (*cards, *self._take_set(card_set)), self._back_of(card_set)
            self._put_away(card for card in cards if card.back != back)
            self.fill_hopper(tuple(card for card in cards if card.back == back))

    async def change_set(
        self, back: int | None = None, count: int | None = None, card_set: str | None = None
    ) -> None:
        """Open the lid, replace the machine's cards by `card_set` or a new set, and close the lid.

        With a name, that set is taken from beside the machine or from the table. The cards of the
        machine are laid beside it, sorted by their backs. Raises OutOfReach if the set is not
        there. Without a name, the set is new, and all other cards go into the box. The new set has
        `count` cards with the back `back`. None means the usual count, or the first set's back.
        """
        if card_set is not None:
            self._require_set(card_set)
        async with self._lid_open():
            cards = self.empty_machine()
            if card_set is not None:
                taken = self._take_set(card_set)
                self._put_away(cards, instead_of=card_set)
                self.fill_hopper(taken)
                return
            self.box.extend((*cards, *self._take_all(*self.hands, self.table)))
            back = next(iter(self.backs.values())) if back is None else back
            count = self.cards_per_set if count is None else count
            self.fill_hopper(self._parts.new_set(count, back, self._faces))

    def empty_machine(self) -> Cards:
        """Remove and return all cards in the machine and on its floor, and repair its parts."""
        parts = self._parts
        cards = (
            *(card for outlet in range(OUTLETS) for card in parts.pockets.empty(outlet)),
            *(card for feeder in parts.feeders for card in feeder.empty()),
            *parts.window.empty(),
            *parts.shuffler.empty(),
            *self._take_all(parts.hopper, parts.pockets.floor),
        )
        for feeder in parts.feeders:
            feeder.stack_changed()
        for motor in parts.motors.values():
            motor.free()
        parts.dealer.unstick_all()
        return _face_down(cards)

    def reload_hopper(self) -> None:
        """Take all cards out of the hopper and put them back."""
        self.fill_hopper(self._take_all(self._parts.hopper))

    def fill_hopper(self, cards: Cards) -> None:
        """Put `cards` into the hopper. Faults of a set of cards change `cards` first."""
        parts = self._parts
        if cards:
            if parts.tally.filling:
                parts.dealer.clear_disturbances()
            parts.tally.reset()
            self._injector.draw_combinations(len(cards))
            cards = self._damage_set(cards)
            for name in ("left_in_pocket", "left_in_path"):
                if len(cards) > 1 and (fault := parts.faults.strike(name)):
                    cards = self._leave_card(fault, cards)
        parts.hopper.extend(cards)
        parts.hopper_changed()

    def put_right(self) -> None:
        """Correct the set in the hopper: add its missing cards and remove cards of other sets.

        Missing cards are found, unless the players hold them or they are in the machine. Cards that
        do not belong to the set are removed. Raises OutOfReach for an empty hopper.
        """
        if not self._parts.hopper:
            raise OutOfReach("there is no card in the hopper")
        cards = self._take_all(self._parts.hopper)
        ids = self._parts.ids_of_set(cards)
        lost = [card for card in self.box if card.id in ids]
        self.box = [card for card in self.box if card.id not in ids]
        others = [card for card in cards if card.id not in ids]
        self._put_away(card for card in others if self._parts.belongs_to_set(card))
        self.box += [card for card in others if not self._parts.belongs_to_set(card)]
        self.fill_hopper((*(card for card in cards if card.id in ids), *_face_down(lost)))

    def _damage_set(self, cards: Cards) -> Cards:
        """Return `cards` as they are after all faults of the set that strike now."""
        parts = self._parts
        for name in SET_FAULTS:
            while cards and (fault := parts.faults.strike(name)):
                whole = cards
                cards, out = alter_set(fault, whole, parts.rng, parts.make_card)
                self.box.extend(out)
                self._keep_wrong_set_active(whole, cards)
                if fault.repeat or fault.rate:
                    break
        return cards

    def _leave_card(self, fault: SimulatedFault, cards: Cards) -> Cards:
        """Leave the last of `cards` at the place that `fault` names, and return the other cards.

        If that place is occupied and has no room for another card, nothing is left. The fault is
        active until the hopper is filled again and that card is no longer there.
        """
        parts = self._parts
        place = "pocket" if fault.name == "left_in_pocket" else fault.place
        cards_at = _CARDS_AT[place]
        if place in _SINGLE_PLACES and cards_at(parts, fault.pocket):
            return cards
        *others, left = cards
        _PUT_CARDS[place](parts, fault.pocket, (left,))
        filling = parts.tally.filling
        self._injector.active.keep_while(
            parts.faults.past_strikes[-1],
            lambda: parts.tally.filling == filling or left in cards_at(parts, fault.pocket),
        )
        return tuple(others)

    def _keep_wrong_set_active(self, whole: Cards, altered: Cards) -> None:
        """Treat the newest fault as active while the set that it altered is wrong and in play.

        `whole` and `altered` are the set before and after the fault. A set beside the machine or in
        the box has no effect. It counts as wrong again when it is back in play.
        """
        members = frozenset(card.id for card in whole)
        in_it = frozenset(card.id for card in altered)
        gone, strange = members - in_it, in_it - members

        def wrong() -> bool:
            box = {card.id for card in self.box}
            return bool(gone & box) or not strange <= box

        def wrong_in_play() -> bool:
            if not wrong():
                return False
            truth = self.truth()
            away = {card.id for pile in (truth.box, *truth.beside.values()) for card in pile}
            in_play = {card.id for card in truth.all_cards()} - away
            return not members.isdisjoint(in_play)

        if gone or strange:
            newest = self._parts.faults.past_strikes[-1]
            self._injector.active.keep_while(newest, wrong_in_play, wrong)

    @asynccontextmanager
    async def _lid_open(self) -> AsyncIterator[None]:
        self._parts.set_lid(True)
        await self._parts.clock.wait_ms(GATHER_MS)
        yield
        await self._parts.clock.wait_ms(LID_MS)
        self._parts.set_lid(False)

    def _back_of(self, card_set: str) -> int:
        if card_set not in self.backs:
            known = ", ".join(self.backs)
            raise OutOfReach(f"no set is called {card_set!r}; there are {known}")
        return self.backs[card_set]

    def _is_mostly(self, pile: list[PhysicalCard], card_set: str) -> bool:
        """Return True if the most frequent back in `pile` is the back of the set `card_set`."""
        back = self._back_of(card_set)
        return bool(pile) and Counter(card.back for card in pile).most_common(1)[0][0] == back

    def _pile_of(self, card_set: str) -> list[PhysicalCard]:
        """Return the pile that people identify as the set `card_set` by its backs.

        Raises OutOfReach if there is no such pile.
        """
        if self.beside.get(card_set):
            return self.beside[card_set]
        for pile in (self._parts.hopper, self.table):
            if self._is_mostly(pile, card_set):
                return pile
        raise OutOfReach(f"set {card_set} is not within reach")

    def _require_set(self, card_set: str) -> None:
        """Raise OutOfReach unless the set `card_set` is beside the machine or on the table."""
        self._back_of(card_set)
        if not (self.beside[card_set] or self._is_mostly(self.table, card_set)):
            raise OutOfReach(f"set {card_set} is neither beside the machine nor on the table")

    def _take_set(self, card_set: str) -> Cards:
        """Remove and return the cards of the set `card_set` beside the machine and on the table.

        The cards on the table are left if most of them have another back.
        """
        played = [self.table] if self._is_mostly(self.table, card_set) else []
        return self._take_all(self.beside[card_set], *played)

    def _put_away(self, cards: Iterable[PhysicalCard], instead_of: str | None = None) -> None:
        """Lay each card beside the machine, on the pile of the set that has the card's back.

        A card with a back of no set goes into the box. If two sets have the same back, the card
        goes to the set that is not `instead_of`. `instead_of` is the set that is being loaded.
        """
        for card in cards:
            names = [name for name, back in self.backs.items() if back == card.back]
            names.sort(key=lambda name: name == instead_of)
            (self.beside[names[0]] if names else self.box).append(card)

    @staticmethod
    def _take_all(*piles: list[PhysicalCard]) -> Cards:
        cards = tuple(card for pile in piles for card in pile)
        for pile in piles:
            pile.clear()
        return cards


def _face_down(cards: Iterable[PhysicalCard]) -> Cards:
    return tuple(PhysicalCard(card.id, card.face, card.back) for card in cards)

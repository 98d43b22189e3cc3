"""How long a set that is not what it should be stays so."""

from typing import TYPE_CHECKING

from sim.mechanics.cards import Cards

if TYPE_CHECKING:
    from sim.mechanics.world import World


def keep_wrong_set_active(world: "World", whole: Cards, altered: Cards) -> None:
    """Have what struck just now be in force while the set is played with and still wrong.

    `whole` and `spoiled`: the set before and after. A set beside the machine or in the box
    harms nobody; it is wrong again when it comes back.
    """
    members = frozenset(card.id for card in whole)
    in_it = frozenset(card.id for card in altered)
    gone, strange = members - in_it, in_it - members

    def wrong() -> bool:
        box = {card.id for card in world.people.box}
        return bool(gone & box) or not strange <= box

    def so() -> bool:
        return wrong() and not members.isdisjoint(_ids_in_play(world))

    if gone or strange:
        world.keep_active_while(so, wrong)


def _ids_in_play(world: "World") -> set[int]:
    truth = world.truth()
    away = {card.id for card in truth.box}.union(
        *({card.id for card in pile} for pile in truth.beside.values())
    )
    return {card.id for card in truth.all_cards()} - away

"""A card that sticks."""


class CardJam:
    """Holds a card where it is; `tries` tries free it, None: only a person's hand."""

    def __init__(self, tries: int | None) -> None:
        self._tries = tries

    def try_to_free(self) -> bool:
        """Try once; return whether the card is free now."""
        if self._tries is None:
            return False
        self._tries -= 1
        return self._tries <= 0

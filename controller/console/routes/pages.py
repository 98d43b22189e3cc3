"""The pages of the whole hall."""

from typing import Final

from controller.console.routing import CHIEF, EVERYBODY, page

ROUTES: Final = (
    page("/", "hall.html", roles=EVERYBODY),
    page("/wall", "wall.html", roles=EVERYBODY),
    page("/chief", "chief.html", roles=CHIEF),
)

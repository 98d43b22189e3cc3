"""What can be ordered at all."""

from collections.abc import Mapping
from typing import Final

from controller.console.routing import WITH_DISPLAYS, Asked, route
from controller.console.view.commands import CommandView, commands


async def every(asked: Asked) -> Mapping[str, CommandView]:
    """List the commands, with their roles and arguments."""
    return commands()


ROUTES: Final = (route("/api/commands", every, roles=WITH_DISPLAYS),)

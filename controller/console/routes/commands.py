"""What can be ordered at all, and what the names of faults mean."""

from collections.abc import Mapping
from typing import Final

from controller.console.routing import WITH_DISPLAYS, Asked, route
from controller.console.view.commands import CommandFormView, commands
from controller.faults import Language, catalogue


async def every(asked: Asked) -> Mapping[str, CommandFormView]:
    """List the commands, with their roles and arguments."""
    return commands()


async def faults(asked: Asked) -> Mapping[str, Mapping[Language, str]]:
    """Give each fault's cause in words, by its name: why a set is barred, say."""
    return {
        name: {"en": row.cause(), "zh": row.cause(language="zh")}
        for name, row in catalogue().items()
    }


ROUTES: Final = (
    route("/api/commands", every, roles=WITH_DISPLAYS),
    route("/api/faults", faults, roles=WITH_DISPLAYS),
)

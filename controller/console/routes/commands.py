"""What can be ordered at all, and what the names of faults mean."""

from collections.abc import Mapping
from typing import Final

from controller.console.routing import WITH_DISPLAYS, ConsoleRequest, route
from controller.console.view.commands import CommandFormView, command_forms
from controller.faults import Language, fault_catalogue


async def list_commands(request: ConsoleRequest) -> Mapping[str, CommandFormView]:
    """List the commands, with their roles and arguments."""
    return command_forms()


async def list_faults(request: ConsoleRequest) -> Mapping[str, Mapping[Language, str]]:
    """Give each fault's cause in words, by its name: why a set is barred, say."""
    return {
        name: {"en": row.cause(), "zh": row.cause(language="zh")}
        for name, row in fault_catalogue().items()
    }


ROUTES: Final = (
    route("/api/commands", list_commands, roles=WITH_DISPLAYS),
    route("/api/faults", list_faults, roles=WITH_DISPLAYS),
)

"""The commands of a table: who may give each, when, and whether it must be signed.

One table; a refusal names the roles and phases it holds. DESIGN §7 lists what is
still to come.
"""

from typing import NamedTuple

from controller.messages import Failure, Phase, Role


class Order(NamedTuple):
    """The conditions of one command.

    `signed`: it changes something, so its key's role counts. `bound`:
    it must name the present deal and attempt, else it is STALE.
    """

    roles: frozenset[Role]
    phases: frozenset[Phase]
    signed: bool
    bound: bool


_EVERYBODY = frozenset(Role)
_REFEREES = frozenset({Role.REFEREE, Role.CHIEF})
_TABLE = _REFEREES | {Role.TABLE}
_ALWAYS = frozenset(Phase)

COMMANDS: dict[str, Order] = {
    "snapshot": Order(_EVERYBODY, _ALWAYS, signed=False, bound=False),
    "events": Order(_EVERYBODY, _ALWAYS, signed=False, bound=False),
    "start_deal": Order(
        _REFEREES,
        frozenset({Phase.EMPTY, Phase.COMMITTED}),
        signed=True,
        bound=False,
    ),
    "cut": Order(_TABLE, frozenset({Phase.COMMITTED}), signed=True, bound=True),
    "release": Order(_REFEREES, frozenset({Phase.HELD}), signed=True, bound=True),
}


def may(role: Role, cmd: str) -> bool:
    """Tell whether a role may give a command; nobody may give one that does not exist."""
    order = COMMANDS.get(cmd)
    return order is not None and role in order.roles


def refusal(cmd: str, role: Role, phase: Phase) -> Failure | None:
    """Return why a command cannot be given by this role in this phase; None where it can."""
    order = COMMANDS.get(cmd)
    if order is None:
        return Failure(
            code="UNKNOWN_COMMAND",
            message=f"there is no command {cmd}",
            action=f"use one of: {', '.join(sorted(COMMANDS))}",
        )
    if role not in order.roles:
        return Failure(
            code="WRONG_ROLE",
            message=f"{cmd} is not for the role {role}",
            action=f"ask one of: {_names(Role, order.roles)}",
        )
    if phase not in order.phases:
        return Failure(
            code="WRONG_PHASE",
            message=f"{cmd} is not possible while the machine is {phase}",
            action=f"possible while it is: {_names(Phase, order.phases)}",
        )
    return None


def _names(kind: type[Role] | type[Phase], chosen: frozenset[Role] | frozenset[Phase]) -> str:
    """In the order in which they are declared."""
    return ", ".join(each.value for each in kind if each in chosen)

"""The table itself: its keys, its users, its services, its feed."""

from typing import Final

from controller.config import TableConfig
from controller.doctor.facts import DoctorFacts, ServiceFacts
from controller.doctor.finding import DoctorFindings, amber, green, red, unknown

_LOCAL_PREFIXES: Final = ("tcp://127.", "tcp://localhost:", "tcp://[::1]:")


def check_keys(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """The table has its keys, and a chief is admitted whom deals can be sealed to."""
    known, place = facts.keys, config.gateway_dir
    if known.closed_folder:
        yield unknown(
            "keys", f"what {known.closed_folder} holds, which is closed to this user", "ask as root"
        )
        return
    if known.are_missing:
        do = f"dealtable keys create --config {facts.config_file}"
        yield amber("keys", "none yet: the first start makes them, and a chief's with them", do)
        return
    if known.trouble:
        yield red("keys", known.trouble, "dealtable keys create mends what is missing")
        return
    if not known.chiefs:
        what = f"{place / 'admitted'}: no chief to whom a deal can be sealed: the table won't start"
        yield red("keys", what, f"dealtable keys admit {place} CHIEF.key")
    for name in known.expired:
        do = f"dealtable keys rotate {place} {name}, or `keys revoke`"
        yield amber("keys", f"the key of {name} is over", do)
    for name in known.expiring:
        do = f"dealtable keys rotate {place} {name}"
        yield amber("keys", f"the key of {name} ends within a week", do)
    if known.chiefs and not known.expired and not known.expiring:
        yield green("keys", f"{known.clients} admitted, {known.chiefs} of them a chief")


def check_users(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Machine and gateway are two users, and neither can reach what is the other's."""
    if facts.users_problem:
        yield red("users", facts.users_problem, "do that, or start `dealtable run` once as root")
    elif config.gateway.user is None:
        do = "name two: table.user and gateway.user; deploy/install.sh makes them"
        yield amber("users", "machine and gateway are one user: who has one has the other", do)
    else:
        yield green("users", f"machine {config.table.user}, gateway {config.gateway.user}, apart")


def check_services(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Both processes are kept running, and start again with the computer."""
    if facts.services is None:
        yield unknown("services", "systemd does not run it", "see that something starts the table")
        return
    for service in facts.services:
        yield from _check_service(service)


def _check_service(service: ServiceFacts) -> DoctorFindings:
    name = service.name
    if service.load != "loaded":
        yield amber("services", f"{name} is not installed", "deploy/install.sh installs it")
    elif service.active == "failed":
        yield red("services", f"{name} has failed", f"journalctl -u {name} says why")
    elif service.active not in ("active", "reloading"):
        yield amber(
            "services", f"{name} does not run ({service.active})", f"systemctl start {name}"
        )
    elif service.enabled != "enabled":
        do = f"systemctl enable {name}"
        yield amber("services", f"{name} runs, and not again after the next start", do)
    else:
        yield green("services", f"{name} runs")


def check_feed(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """A gateway serves the table, and its feed is heard as consoles hear it."""
    known = facts.feed
    if known.address is None:
        yield from _check_without_gateway(config, facts)
    elif known.trouble:
        do = "see that the gateway runs: systemctl status, or the log of `dealtable run`"
        yield red("feed", f"{known.address}: {known.trouble}", do)
    elif known.has_no_key:
        what = f"whether {known.address}, which is open, speaks with whom it should"
        yield unknown("feed", what, "ask as root, or dealtable watch with an admitted key")
    elif known.alerts:
        do = "do what the table asks for: dealtable watch"
        yield amber("feed", f"{known.state_text}, and calls: {', '.join(known.alerts)}", do)
    else:
        yield green("feed", f"{known.state_text}, at {known.address}")
    if known.address is not None:
        yield unknown(
            "firewall",
            "whether other computers come through to the feed",
            f"on the console's computer: dealtable watch tcp://THIS:{_port_of(known.address)}",
        )


def _check_without_gateway(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    local = [
        one
        for one in (config.gateway.feed, config.gateway.commands)
        if one.startswith(_LOCAL_PREFIXES)
    ]
    for address in facts.feed.taken_addresses:
        do = "end that program, or give the gateway another port"
        yield red("feed", f"another program listens at the port of {address}", do)
    if local and config.table.backend == "serial":
        do = 'write gateway.feed = "tcp://*:5556", and commands likewise'
        yield amber("feed", f"{', '.join(local)}: no console on another computer reaches it", do)
    if not facts.feed.taken_addresses:
        yield unknown("feed", "no gateway of this table runs", "start the table, and ask again")


def _port_of(address: str) -> str:
    return address.rpartition(":")[2]

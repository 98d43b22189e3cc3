"""The buttons and lamps of a table in process."""

from controller.trials.inproc import TableInProcess
from drivers.panel import PanelPins
from sim.contacts import PanelContacts
from sim.pins import ContactsFactory


async def at_panel(at: TableInProcess) -> PanelContacts:
    """Open the panel of a table, and return its contacts."""
    contacts = PanelContacts(at.sim.world)

    async def factory() -> object:
        return ContactsFactory(contacts)

    await at.machine.panel_control.open(PanelPins(), factory)
    return contacts

"""The buttons and lamps of a table in process."""

from drivers.panel import PanelPins
from sim.panel_contacts import PanelContacts
from sim.pin_factories import ContactsFactory
from sim.tables.table_in_process import TableInProcess


async def at_panel(at: TableInProcess) -> PanelContacts:
    """Open the panel of a table, and return its contacts."""
    contacts = PanelContacts(at.sim.world)

    async def factory() -> object:
        return ContactsFactory(contacts)

    await at.machine.panel_control.open(PanelPins(), factory)
    return contacts

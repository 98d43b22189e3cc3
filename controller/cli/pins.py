"""The pin factory that a configuration names: never gpiozero's own choice."""

from controller.config import PanelSection
from drivers.panel import PanelLost, PanelPins


async def pin_factory(pins: str) -> object:
    """Return the gpiozero factory of `panel.pins`: lgpio, mock, or unix:PATH of a simulated table.

    Raises PanelLost, with what is missing.
    """
    try:
        if pins == "lgpio":
            from gpiozero.pins.lgpio import LGPIOFactory

            return LGPIOFactory()
        if pins == "mock":
            from gpiozero.pins.mock import MockFactory

            return MockFactory()
        from sim.pins import SocketFactory

        return await SocketFactory.connect(pins.removeprefix("unix:"))
    except Exception as error:  # each pin library raises types of its own
        raise PanelLost(str(error)) from error


def make_panel_pins(panel: PanelSection) -> PanelPins:
    """Return the GPIO numbers of a configuration as the driver takes them."""
    return PanelPins(**{name: getattr(panel, name) for name in PanelPins.__struct_fields__})

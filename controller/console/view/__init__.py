"""Pure functions that turn public states into what people see. No clock, no socket, no store."""

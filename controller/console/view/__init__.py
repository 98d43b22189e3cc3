"""What people see, as functions of the tables' public states. No clock, no socket, no store."""

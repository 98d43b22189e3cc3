"""The score sheet (记分表): as values that cross the socket, as words, as a print."""

"""The score sheet (记分表): whole, as rows and as a print."""

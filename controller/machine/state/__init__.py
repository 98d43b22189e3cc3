"""The state of a table: folds over the entries of its journal."""

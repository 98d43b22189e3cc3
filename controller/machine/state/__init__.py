"""The state of a table, which folds compute from the entries of its journal."""

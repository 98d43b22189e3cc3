"""What the journal says of the table now: states that are folds over its entries."""

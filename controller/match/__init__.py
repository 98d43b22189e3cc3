"""One match: from taking the seats to the signed score sheet, as one pure function."""

"""Choose the columns of an unknown table from their names and values."""

"""Choice of the columns of an unknown table by their names and numbers."""

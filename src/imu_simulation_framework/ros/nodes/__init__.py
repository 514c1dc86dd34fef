"""One module for each node."""

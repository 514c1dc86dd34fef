"""From satellite fixes to a path with its heading."""

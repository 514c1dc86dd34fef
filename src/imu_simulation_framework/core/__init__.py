"""What all packages stand on: angles, units, errors, names, colours, files read and written."""

"""What all packages stand on: angles, units, errors, names, files read and written."""

"""Foundation of all packages: angles, units, errors, names, colours, reading and writing files."""

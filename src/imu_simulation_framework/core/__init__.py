"""Foundation of all packages: angles, units, errors, settings, and reading and writing files."""

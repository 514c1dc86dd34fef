"""config.ini and the parameter files that it names."""

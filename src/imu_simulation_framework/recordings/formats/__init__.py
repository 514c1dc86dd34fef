"""A module for each kind of file."""

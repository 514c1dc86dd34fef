"""A module for each node."""

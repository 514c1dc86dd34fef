"""Orientation filters, which fuse the readings of a sensor."""

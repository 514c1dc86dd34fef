"""Orientation filters, which fuse a sensor's own readings."""

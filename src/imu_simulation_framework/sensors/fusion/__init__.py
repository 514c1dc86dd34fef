"""Orientation from a sensor's own readings."""

"""Defaults of flights."""

RATE = 50.0
"""Steps per second of the bundled script c3104 [Hz]."""

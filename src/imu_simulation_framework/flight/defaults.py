"""Default values for flights."""

RATE = 50.0
"""Simulation rate of the bundled JSBSim script c3104 [Hz]."""

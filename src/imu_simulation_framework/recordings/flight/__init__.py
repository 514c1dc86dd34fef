"""Recorded flights: positions, attitudes and velocities of an aircraft, from tables and bags."""

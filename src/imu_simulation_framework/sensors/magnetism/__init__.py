"""Magnetic fields around a robot: the Earth's, and those of iron, magnets and motors."""

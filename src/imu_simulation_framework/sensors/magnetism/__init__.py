"""Magnetic fields around a robot: those of the Earth, iron, magnets and motors."""

"""Magnetic fields around a robot, due to the Earth, iron bodies, magnets and motors."""

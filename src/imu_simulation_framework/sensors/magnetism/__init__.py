"""Magnetic fields that a sensor on a robot meets: Earth's, iron's and the motors'."""

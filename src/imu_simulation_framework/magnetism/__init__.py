"""Magnetic fields that a sensor on a robot meets: Earth's, iron's, magnets', its own motors'."""

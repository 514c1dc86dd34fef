"""The robot's parameters and its description, and the world it drives in."""

"""Robot parameters and descriptions, independent of a simulator."""

"""Trajectory tracking with a wheeled robot."""

"""Motion over time: trajectories, drives, terrain, time stamps."""

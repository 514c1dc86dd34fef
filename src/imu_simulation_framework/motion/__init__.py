"""Motion over time: trajectories, drives, positioning, stamps; also on the turning Earth."""

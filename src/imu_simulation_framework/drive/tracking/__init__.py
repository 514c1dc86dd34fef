"""Following a trajectory with a differential drive."""

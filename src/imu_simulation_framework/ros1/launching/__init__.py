"""Starting an experiment, watching over it and ending it."""

"""Results of an experiment: folder, tables, and samples recorded during the drive."""

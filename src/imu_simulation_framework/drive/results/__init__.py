"""The results of an experiment: folder, tables, samples as they come in."""

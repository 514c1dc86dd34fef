"""Start, supervision and end of an experiment."""

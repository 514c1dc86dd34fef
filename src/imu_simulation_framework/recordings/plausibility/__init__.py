"""Whether a recording can be what it seems to be."""

"""Everything on disk: configuration, recordings, results."""

"""From a configuration to a result: preparing a drive, running it in one process, reporting."""

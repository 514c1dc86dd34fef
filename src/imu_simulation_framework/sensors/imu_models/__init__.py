"""Error models of IMUs and of simulators' plug-ins."""

"""Error models of IMUs, and emulations of simulator plug-ins."""

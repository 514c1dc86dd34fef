"""Parameters of IMUs in the formats of other tools, with a module for each, and common parts."""

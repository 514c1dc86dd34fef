"""Parameters of IMUs in the formats of other tools: a module for each, and what they share."""

"""Interface of an experiment to a simulator, and its implementations."""

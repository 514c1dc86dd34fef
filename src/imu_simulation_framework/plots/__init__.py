"""Figures of an experiment's results."""

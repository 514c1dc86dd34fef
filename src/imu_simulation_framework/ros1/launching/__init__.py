"""Launching, supervision and termination of an experiment."""

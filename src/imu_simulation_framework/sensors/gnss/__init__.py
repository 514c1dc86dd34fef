"""Specification and simulation of GNSS receivers."""

"""Nodes, a module each."""

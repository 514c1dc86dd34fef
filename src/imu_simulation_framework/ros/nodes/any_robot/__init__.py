"""Nodes beside anybody's robot and simulator, which take no part in an experiment."""

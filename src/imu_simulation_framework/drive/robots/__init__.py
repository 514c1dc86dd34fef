"""Robots: their parameters and descriptions, without a simulator."""

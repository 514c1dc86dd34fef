"""Yaws and wheels, each beside what it is compared with."""

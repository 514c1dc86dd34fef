"""Flights: their states as sources deliver them, and the instants at which they change."""

"""The command line of flights: simulate_flight.py."""

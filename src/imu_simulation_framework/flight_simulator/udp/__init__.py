"""JSBSim's output by UDP: packets of text or of FlightGear's structure, put together."""

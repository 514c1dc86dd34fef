"""JSBSim's output by UDP: packets of text or of FlightGear's structure, received and put together."""

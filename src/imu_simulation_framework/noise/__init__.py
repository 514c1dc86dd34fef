"""Random processes of sensors: white noise, flicker, random walks; their units and densities."""

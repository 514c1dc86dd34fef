"""Random processes of sensors: white noise, flicker, random walks, and their units."""

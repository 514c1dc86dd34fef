"""Random processes of sensors: white noise, flicker noise, random walks, and their units."""

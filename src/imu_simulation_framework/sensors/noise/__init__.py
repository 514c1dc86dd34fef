"""Random processes of sensor errors: white noise, flicker noise, random walks."""

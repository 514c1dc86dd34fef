"""The bundled drives, and recordings of simulated IMUs."""

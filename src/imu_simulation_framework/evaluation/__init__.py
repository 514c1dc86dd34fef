"""How far a heading drifts: errors, their statistics and spectra."""

"""Allan deviation: estimate, model, fit, intervals."""

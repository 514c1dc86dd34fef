"""Allan variance analysis: estimation, noise models, fits and confidence intervals."""

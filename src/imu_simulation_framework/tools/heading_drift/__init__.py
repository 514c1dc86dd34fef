"""How far a heading drifts: budgets, identification and ensembles."""
